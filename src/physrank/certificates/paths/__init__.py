"""Functions of space and time that stored rows stand for, and what the equations leave on them."""

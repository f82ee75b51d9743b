"""`python -m physrank`: the command, where it is not on the path."""

from physrank.cli import app

if __name__ == "__main__":  # processes that training starts import this, too
    app(prog_name="physrank")

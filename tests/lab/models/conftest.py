"""Every network test starts from one seed, on one thread."""

from networks import seed_and_one_thread as seed_and_one_thread

"""What several tests of the laboratory need."""


class InThisProcess:
    """A process pool without processes: settings that a test has patched live in this one."""

    def __init__(self, **options):
        del options

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def map(self, function, jobs):
        return map(function, jobs)

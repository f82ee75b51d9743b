"""The laboratory: how we know that the instrument works. Nothing outside this folder imports it, except the CLI."""

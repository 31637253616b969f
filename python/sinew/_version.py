"""The version of the package, which is that of the library it belongs to."""

__version__ = "0.1.0"

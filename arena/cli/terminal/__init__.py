"""Parse command lines, print results, and turn errors into exit codes; the only package that prints.

No command is imported here, so that `arena --help` answers at once: the parser loads a command's module by name.
"""

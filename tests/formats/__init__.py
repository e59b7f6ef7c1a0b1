"""A format that does not belong to the program, as somebody would add one."""

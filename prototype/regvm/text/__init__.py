"""The text form of a program: the listing that ``exe.bytecode`` shows, and its way back."""

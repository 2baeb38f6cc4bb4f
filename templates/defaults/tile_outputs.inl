// D is the only output.

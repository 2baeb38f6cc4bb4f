// TMA copies all operands.

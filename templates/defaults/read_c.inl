// The default kernel has no statement here.

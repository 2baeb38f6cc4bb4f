// A rendering writes the loop nest of its kernel here.

// s = offset + speed t + amplitude sin(2 pi frequency t + phase) for each coordinate
//
// The port moves so, whatever forces act on it.  A frame turns by one more coordinate, the angle, about `axis`.

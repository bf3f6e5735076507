/* About the axis. */
static Course turn(const Element *e)
{
    return course(e->time, e->angle.offset, e->angle.speed, e->angle.amplitude, e->angle.frequency, e->angle.phase);
}

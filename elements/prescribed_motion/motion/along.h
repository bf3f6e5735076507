/* Along coordinate k. */
static Course along(const Element *e, int k)
{
    return course(e->time, e->offset[k], e->speed[k], e->amplitude[k], e->frequency[k], e->phase[k]);
}

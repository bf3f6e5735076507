/* The record of each contact: when it began and ended, with what impact and rebound. */

/* Contact i begins at the speed and with the impulse of an impact, both 0 if it is there at the start. */
static void record_begin(Element *e, int i, double speed, Real impulse)
{
    e->present_contact[i].start = e->time;
    e->present_contact[i].impact_speed = speed;
    e->present_contact[i].impact_impulse = impulse;
    e->contact_count[i] += 1.0;
}

/* It ends: the point moves off at the speed `rebound`. */
static void record_end(Element *e, CcHost *host, int i, double rebound)
{
    if (re(e->release_count[i]) > 0.0)
        cc_keep(host, &e->last_contact[i], sizeof e->last_contact[i] / sizeof(Real));
    e->last_contact[i].start = e->present_contact[i].start;
    e->last_contact[i].end = e->time;
    e->last_contact[i].impact_speed = e->present_contact[i].impact_speed;
    e->last_contact[i].rebound_speed = rebound;
    e->last_contact[i].impact_impulse = e->present_contact[i].impact_impulse;
    e->release_count[i] += 1.0;
}

static void start_record(Element *e, int i)
{
    e->contact_count[i] = e->release_count[i] = 0.0;
    e->last_contact[i].start = e->last_contact[i].end = 0.0;
    e->last_contact[i].impact_speed = e->last_contact[i].rebound_speed = 0.0;
    e->last_contact[i].impact_impulse = 0.0;
    record_begin(e, i, 0.0, 0.0);
    e->contact_count[i] = e->contact[i].closed;
}

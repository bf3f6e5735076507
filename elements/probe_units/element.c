/* Values in the unit of their variable, whatever an importer shows: the display unit converts what people read alone.
 * Source: FMI 2.0, section 2.2.2. */

static void outputs(Element *e)
{
    e->temperature_out = e->temperature + e->warming;
    e->angle_out = e->angle;
    e->speed_out = e->speed;
    e->pressure_out = e->pressure;
    e->share_out = e->share;
}

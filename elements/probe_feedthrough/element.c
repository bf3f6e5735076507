/* Outputs that are inputs, of every type, to the bit; and the sum of the parameters.   Source: identity. */

static void outputs(Element *e)
{
    e->real_out = e->real_in;
    e->int_out = e->int_in;
    e->bool_out = e->bool_in;
    e->enum_out = e->enum_tunable;
    e->real_sum = re(e->bool_tunable) != 0.0 ? e->real_fixed + e->real_tunable + e->int_tunable : 0.0;
#if COUNT
    for (int i = 0; i < COUNT; i++)
        e->y[i] = e->x[i];
#endif
}

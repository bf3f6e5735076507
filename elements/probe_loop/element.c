/* A straight line without delay.   y = gain u + offset
 *
 * Two of them in a ring, u_1 = y_2 and u_2 = y_1, have one solution where a_1 a_2 is not 1:
 * y_1 = (a_1 b_2 + b_1)/(1 - a_1 a_2),   a gain, b offset.   Source: linear algebra. */

static void outputs(Element *e) { e->y = e->gain * e->u + e->offset; }

/* Families of laws, numbered: of a recipe that gives laws of a family laws.h defines laws_<family>, which returns 1
 * with the value and its derivatives, or 0 for a number without a law.  Families without laws have none for any
 * number. */
#ifndef LAWS_MOTION /* q, qd, qdd of a driven joint, over time */
#define laws_motion(e, joint, t, values) ((void)(e), (void)(values), 0)
#define laws_motion_indicators(e, joint, t, z) ((void)(e), (void)(z))
#endif
#ifndef LAWS_FORCE /* on a joint, over time */
#define laws_force(e, joint, t, values) ((void)(e), (void)(values), 0)
#define laws_force_indicators(e, joint, t, z) ((void)(e), (void)(z))
#endif
#ifndef LAWS_FORCE_X /* at a point, over time */
#define laws_force_x(e, point, t, values) ((void)(e), (void)(values), 0)
#define laws_force_x_indicators(e, point, t, z) ((void)(e), (void)(z))
#endif
#ifndef LAWS_FORCE_Y
#define laws_force_y(e, point, t, values) ((void)(e), (void)(values), 0)
#define laws_force_y_indicators(e, point, t, z) ((void)(e), (void)(z))
#endif
#ifndef LAWS_PROFILE /* y = f(x) of a profile */
#define laws_profile(e, hold, x, values) ((void)(e), (void)(values), 0)
#define laws_profile_indicators(e, hold, x, z) ((void)(e), (void)(z))
#endif
#ifndef LAWS_CURVE_X /* x(s) and y(s) of a profile */
#define laws_curve_x(e, hold, s, values) ((void)(e), (void)(values), 0)
#define laws_curve_y(e, hold, s, values) ((void)(e), (void)(values), 0)
#define laws_curve_x_indicators(e, hold, s, z) ((void)(e), (void)(z))
#define laws_curve_y_indicators(e, hold, s, z) ((void)(e), (void)(z))
#endif

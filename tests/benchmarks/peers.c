/* The damped floor as a callback of MuJoCo: f = k h (1 + d), d = max(d_rest, min(d_comp, k_D h')), h = -q > 0.
 * STIFFNESS k, N/m   SLOPE k_D, s/m   LOW d_rest, HIGH d_comp: limits of the damping ratio (laws/contact.h) */
#include <mujoco/mujoco.h>

__attribute__((visibility("default"))) void damped_floor(const mjModel *model, mjData *data)
{
    (void)model;
    double h = -data->qpos[0], d = -SLOPE * data->qvel[0];
    if (h > 0.0)
        data->qfrc_passive[0] += STIFFNESS * h * (1.0 + (d < LOW ? LOW : d > HIGH ? HIGH : d));
}

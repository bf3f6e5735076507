/* Elementary functions over Real: sin, cos, tan, asin, acos, atan, atan2, exp, log, pow, tanh.
 *
 * The C libraries of platforms round differently, and an FMU links none.  These give the same bits wherever + - * / and
 * sqrt of doubles are rounded once to nearest: no fused multiply-add, no long double, no table that a machine makes.
 *
 * Special values are those of C99 Annex F; an invalid argument gives a positive quiet NaN on every machine.  Floating
 * point exception flags are not part of the result.
 *
 *             method                                                            derivative          set to 0 at
 *   sin cos   pi/2 taken off in three or four parts up to 2^20 (Cody & Waite),  cos, -sin
 *   tan       beyond with the bits of 2/pi that matter (Payne & Hanek);         1 / cos^2
 *             polynomials on -pi/4 .. pi/4; tan as quotient of two pairs
 *   asin      x + x^3 P(x^2) up to 1/2, else pi/2 - 2 asin sqrt((1 - |x|)/2)    1 / sqrt(1 - x^2)   -1, 1
 *   acos      likewise                                                          -1 / sqrt(1 - x^2)  -1, 1
 *   atan      atan(i/16) from a table, the rest by a polynomial; over pairs     1 / (1 + x^2)
 *   atan2     likewise                                        (x dy - y dx) / (x^2 + y^2)           (0, 0), infinity
 *   exp       2^(i/64) from a table, the rest by a polynomial (Tang)            exp
 *   log       log c from a table, log(1 + r) by a polynomial; over pairs        1 / x               0
 *   pow       exp(y log x) over pairs                          y x^(y-1) dx + x^y log x dy          see cc_pow
 *   tanh      x + x^3 P(x^2) up to 1/4, else 1 - 2 e/(1 + e) with e = exp(-2|x|)  1 - tanh^2, as 4 e/(1 + e)^2
 *
 * Where the value is NaN, and in a direction of 0, the derivative is 0.  Where exp overflows it is infinite.
 *
 * Worst errors measured against 60 digits at 10^5 points each, dense in hard places, in units of the last place of the
 * exact result, subnormal ones included; of the derivative: times a direction, where the product is above 2^-1022
 *             sin   cos   tan   asin  acos  atan  atan2 exp   log   pow   tanh
 *   value     0.56  0.56  0.59  0.61  0.64  0.51  0.55  0.52  0.51  0.52  0.53
 *   derivative 1.5  1.5   1.5   1.4   1.4   1.5   1.5   1.4   0.5   1.5   1.5
 *
 * A pair is the unevaluated sum of two doubles (Dekker, Numer. Math. 18 (1971) 224).  Sources: Muller, Elementary
 * Functions (3rd ed., 2016); Cody & Waite, Software Manual for the Elementary Functions (1980); Payne & Hanek, SIGNUM
 * Newsletter 18 (1983) 19; Tang, ACM TOMS 15 (1989) 144 and 16 (1990) 378.  Constants: elementary_coefficients.py. */
#ifndef CC_ELEMENTARY_H
#define CC_ELEMENTARY_H

#include "real.h"

#if defined __FAST_MATH__ || (defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ == 2)
#error "elementary.h needs doubles rounded as written: compile without -ffast-math, on x86 of 32 bits with -mfpmath=sse"
#endif

typedef struct {
    double hi, lo; /* hi is hi + lo rounded, or nearly so */
} CcPair;

/* --- constants, written by elementary_coefficients.py --- */
#define CC_TWO_OVER_PI 0x1.45f306dc9c883p-1 /* 2/pi */
#define CC_HALF_PI_HI 0x1.921fb54442d18p+0 /* pi/2, rounded */
#define CC_HALF_PI_LO 0x1.1a62633145c07p-54 /* what is missing there */
#define CC_HALF_PI_1 0x1.921fb54400000p+0 /* pi/2, its first 33 bits: a product with 20 bits is exact */
#define CC_HALF_PI_2 0x1.0b4611a600000p-34 /* pi/2, the next 33 bits */
#define CC_HALF_PI_3 0x1.3198a2e000000p-69 /* pi/2, the next 33 bits */
#define CC_HALF_PI_4 0x1.b839a252049c1p-104 /* pi/2, the rest */
#define CC_HALF_PI_34 0x1.3198a2e037073p-69 /* pi/2, the rest after two parts */
#define CC_PI_HI 0x1.921fb54442d18p+1 /* pi, rounded */
#define CC_PI_LO 0x1.1a62633145c07p-53 /* what is missing there */
#define CC_THREE_QUARTERS_PI 0x1.2d97c7f3321d2p+1 /* 3/4 pi */
#define CC_SIN_3 -0x1.5555555555555p-3 /* -1/6, rounded */
#define CC_SIN_3_HI -0x1.5555550000000p-3 /* -1/6, its first 26 bits: a product with 27 bits is exact */
#define CC_SIN_3_LO -0x1.5555555555555p-29 /* -1/6, the rest */
#define CC_EXP_PER_STEP 0x1.71547652b82fep+6 /* 64 / ln 2 */
#define CC_EXP_STEP_HI 0x1.62e42fef80000p-7 /* ln 2 / 64, its first 35 bits: a product with 18 bits is exact */
#define CC_EXP_STEP_LO 0x1.1cf79abc9e3b4p-42 /* ln 2 / 64, the rest */
#define CC_LOG_2_HI 0x1.62e42fefa3800p-1 /* ln 2, 42 bits behind the point */
#define CC_LOG_2_LO 0x1.ef35793c76730p-45 /* ln 2, the rest */
#define CC_LOG_START 0x1.6900000000000p-1 /* where the table of log starts */

/* (sin y - y + y^3/6) / y^5 in z = y^2, |y| <= pi/4; error 2^-64.4 of the result. */
static const double cc_sin_tail[6] = {
    0x1.1111111111111p-7, /* of z^0 */
    -0x1.a01a01a019ed6p-13, /* of z^1 */
    0x1.71de3a550cb5fp-19, /* of z^2 */
    -0x1.ae6455342204ep-26, /* of z^3 */
    0x1.61225b396fddfp-33, /* of z^4 */
    -0x1.ab93fa4af9d21p-41, /* of z^5 */
};

/* (cos y - 1 + y^2/2) / y^4 in z = y^2, |y| <= pi/4; error 2^-59.5 of the result. */
static const double cc_cos_tail[6] = {
    0x1.5555555555555p-5, /* of z^0 */
    -0x1.6c16c16c16967p-10, /* of z^1 */
    0x1.a01a019f4eaf9p-16, /* of z^2 */
    -0x1.27e4fa17d9624p-22, /* of z^3 */
    0x1.1eeb68e88cbb9p-29, /* of z^4 */
    -0x1.907da2e9cd397p-37, /* of z^5 */
};

/* (exp r - 1 - r) / r^2, |r| <= ln 2 / 128; error 2^-69.1 of the result. */
static const double cc_exp_tail[5] = {
    0x1p-1, /* of r^0 */
    0x1.5555555554dd4p-3, /* of r^1 */
    0x1.5555555555174p-5, /* of r^2 */
    0x1.111120af6bd0ep-7, /* of r^3 */
    0x1.6c16d125b84e7p-10, /* of r^4 */
};

/* (log(1 + r) - r + r^2/2) / r^3, |r| < 0.0053; error 2^-70.7 of the result. */
static const double cc_log_tail[7] = {
    0x1.5555555555555p-2, /* of r^0 */
    -0x1.0000000000004p-2, /* of r^1 */
    0x1.99999999999bbp-3, /* of r^2 */
    -0x1.55555552f6035p-3, /* of r^3 */
    0x1.24924920ac445p-3, /* of r^4 */
    -0x1.000293ccd3829p-3, /* of r^5 */
    0x1.c722363d9e0ffp-4, /* of r^6 */
};

/* (asin x - x) / x^3 in z = x^2, |x| <= 1/2; error 2^-58.6 of the result. */
static const double cc_asin_tail[14] = {
    0x1.5555555555555p-3, /* of z^0 */
    0x1.3333333333388p-4, /* of z^1 */
    0x1.6db6db6dac1e0p-5, /* of z^2 */
    0x1.f1c71c7a52ba3p-6, /* of z^3 */
    0x1.6e8ba123e494cp-6, /* of z^4 */
    0x1.1c4efce23019fp-6, /* of z^5 */
    0x1.c990ad3d8fdcap-7, /* of z^6 */
    0x1.7b027ee1dd585p-7, /* of z^7 */
    0x1.3b49de7121487p-7, /* of z^8 */
    0x1.31622469ce5adp-7, /* of z^9 */
    0x1.8f193743418ffp-9, /* of z^10 */
    0x1.406192d124629p-6, /* of z^11 */
    -0x1.3b416bb7d9257p-6, /* of z^12 */
    0x1.e529c6fce9bb4p-6, /* of z^13 */
};

/* (atan t - t) / t^3 in z = t^2, |t| <= 1/32; error 2^-65.6 of the result. */
static const double cc_atan_tail[5] = {
    -0x1.5555555555555p-2, /* of z^0 */
    0x1.99999999998a4p-3, /* of z^1 */
    -0x1.24924922a6e06p-3, /* of z^2 */
    0x1.c71c46c60ce88p-4, /* of z^3 */
    -0x1.73986d264648ap-4, /* of z^4 */
};

/* (tanh x - x) / x^3 in z = x^2, |x| <= 1/4; error 2^-59.6 of the result. */
static const double cc_tanh_tail[8] = {
    -0x1.5555555555555p-2, /* of z^0 */
    0x1.11111111110a0p-3, /* of z^1 */
    -0x1.ba1ba1b9f660bp-5, /* of z^2 */
    0x1.664f485d6d4d4p-6, /* of z^3 */
    -0x1.226e22fa6f453p-7, /* of z^4 */
    0x1.d6c9f446c47cbp-9, /* of z^5 */
    -0x1.7c2ad98792f89p-10, /* of z^6 */
    0x1.17cd5b9306c04p-11, /* of z^7 */
};

/* 2^(i/64) as unevaluated sums. */
static const CcPair cc_exp_table[64] = {
    {0x1p+0, 0.0}, /* i = 0 */
    {0x1.02c9a3e778061p+0, -0x1.19083535b085dp-56}, /* i = 1 */
    {0x1.059b0d3158574p+0, 0x1.d73e2a475b465p-55}, /* i = 2 */
    {0x1.0874518759bc8p+0, 0x1.186be4bb284ffp-57}, /* i = 3 */
    {0x1.0b5586cf9890fp+0, 0x1.8a62e4adc610bp-54}, /* i = 4 */
    {0x1.0e3ec32d3d1a2p+0, 0x1.03a1727c57b53p-59}, /* i = 5 */
    {0x1.11301d0125b51p+0, -0x1.6c51039449b3ap-54}, /* i = 6 */
    {0x1.1429aaea92de0p+0, -0x1.32fbf9af1369ep-54}, /* i = 7 */
    {0x1.172b83c7d517bp+0, -0x1.19041b9d78a76p-55}, /* i = 8 */
    {0x1.1a35beb6fcb75p+0, 0x1.e5b4c7b4968e4p-55}, /* i = 9 */
    {0x1.1d4873168b9aap+0, 0x1.e016e00a2643cp-54}, /* i = 10 */
    {0x1.2063b88628cd6p+0, 0x1.dc775814a8495p-55}, /* i = 11 */
    {0x1.2387a6e756238p+0, 0x1.9b07eb6c70573p-54}, /* i = 12 */
    {0x1.26b4565e27cddp+0, 0x1.2bd339940e9d9p-55}, /* i = 13 */
    {0x1.29e9df51fdee1p+0, 0x1.612e8afad1255p-55}, /* i = 14 */
    {0x1.2d285a6e4030bp+0, 0x1.0024754db41d5p-54}, /* i = 15 */
    {0x1.306fe0a31b715p+0, 0x1.6f46ad23182e4p-55}, /* i = 16 */
    {0x1.33c08b26416ffp+0, 0x1.32721843659a6p-54}, /* i = 17 */
    {0x1.371a7373aa9cbp+0, -0x1.63aeabf42eae2p-54}, /* i = 18 */
    {0x1.3a7db34e59ff7p+0, -0x1.5e436d661f5e3p-56}, /* i = 19 */
    {0x1.3dea64c123422p+0, 0x1.ada0911f09ebcp-55}, /* i = 20 */
    {0x1.4160a21f72e2ap+0, -0x1.ef3691c309278p-58}, /* i = 21 */
    {0x1.44e086061892dp+0, 0x1.89b7a04ef80d0p-59}, /* i = 22 */
    {0x1.486a2b5c13cd0p+0, 0x1.3c1a3b69062f0p-56}, /* i = 23 */
    {0x1.4bfdad5362a27p+0, 0x1.d4397afec42e2p-56}, /* i = 24 */
    {0x1.4f9b2769d2ca7p+0, -0x1.4b309d25957e3p-54}, /* i = 25 */
    {0x1.5342b569d4f82p+0, -0x1.07abe1db13cadp-55}, /* i = 26 */
    {0x1.56f4736b527dap+0, 0x1.9bb2c011d93adp-54}, /* i = 27 */
    {0x1.5ab07dd485429p+0, 0x1.6324c054647adp-54}, /* i = 28 */
    {0x1.5e76f15ad2148p+0, 0x1.ba6f93080e65ep-54}, /* i = 29 */
    {0x1.6247eb03a5585p+0, -0x1.383c17e40b497p-54}, /* i = 30 */
    {0x1.6623882552225p+0, -0x1.bb60987591c34p-54}, /* i = 31 */
    {0x1.6a09e667f3bcdp+0, -0x1.bdd3413b26456p-54}, /* i = 32 */
    {0x1.6dfb23c651a2fp+0, -0x1.bbe3a683c88abp-57}, /* i = 33 */
    {0x1.71f75e8ec5f74p+0, -0x1.16e4786887a99p-55}, /* i = 34 */
    {0x1.75feb564267c9p+0, -0x1.0245957316dd3p-54}, /* i = 35 */
    {0x1.7a11473eb0187p+0, -0x1.41577ee04992fp-55}, /* i = 36 */
    {0x1.7e2f336cf4e62p+0, 0x1.05d02ba15797ep-56}, /* i = 37 */
    {0x1.82589994cce13p+0, -0x1.d4c1dd41532d8p-54}, /* i = 38 */
    {0x1.868d99b4492edp+0, -0x1.fc6f89bd4f6bap-54}, /* i = 39 */
    {0x1.8ace5422aa0dbp+0, 0x1.6e9f156864b27p-54}, /* i = 40 */
    {0x1.8f1ae99157736p+0, 0x1.5cc13a2e3976cp-55}, /* i = 41 */
    {0x1.93737b0cdc5e5p+0, -0x1.75fc781b57ebcp-57}, /* i = 42 */
    {0x1.97d829fde4e50p+0, -0x1.d185b7c1b85d1p-54}, /* i = 43 */
    {0x1.9c49182a3f090p+0, 0x1.c7c46b071f2bep-56}, /* i = 44 */
    {0x1.a0c667b5de565p+0, -0x1.359495d1cd533p-54}, /* i = 45 */
    {0x1.a5503b23e255dp+0, -0x1.d2f6edb8d41e1p-54}, /* i = 46 */
    {0x1.a9e6b5579fdbfp+0, 0x1.0fac90ef7fd31p-54}, /* i = 47 */
    {0x1.ae89f995ad3adp+0, 0x1.7a1cd345dcc81p-54}, /* i = 48 */
    {0x1.b33a2b84f15fbp+0, -0x1.2805e3084d708p-57}, /* i = 49 */
    {0x1.b7f76f2fb5e47p+0, -0x1.5584f7e54ac3bp-56}, /* i = 50 */
    {0x1.bcc1e904bc1d2p+0, 0x1.23dd07a2d9e84p-55}, /* i = 51 */
    {0x1.c199bdd85529cp+0, 0x1.11065895048ddp-55}, /* i = 52 */
    {0x1.c67f12e57d14bp+0, 0x1.2884dff483cadp-54}, /* i = 53 */
    {0x1.cb720dcef9069p+0, 0x1.503cbd1e949dbp-56}, /* i = 54 */
    {0x1.d072d4a07897cp+0, -0x1.cbc3743797a9cp-54}, /* i = 55 */
    {0x1.d5818dcfba487p+0, 0x1.2ed02d75b3707p-55}, /* i = 56 */
    {0x1.da9e603db3285p+0, 0x1.c2300696db532p-54}, /* i = 57 */
    {0x1.dfc97337b9b5fp+0, -0x1.1a5cd4f184b5cp-54}, /* i = 58 */
    {0x1.e502ee78b3ff6p+0, 0x1.39e8980a9cc8fp-55}, /* i = 59 */
    {0x1.ea4afa2a490dap+0, -0x1.e9c23179c2893p-54}, /* i = 60 */
    {0x1.efa1bee615a27p+0, 0x1.dc7f486a4b6b0p-54}, /* i = 61 */
    {0x1.f50765b6e4540p+0, 0x1.9d3e12dd8a18bp-54}, /* i = 62 */
    {0x1.fa7c1819e90d8p+0, 0x1.74853f3a5931ep-55}, /* i = 63 */
};

/* 1/c for a short c near the middle of cell i, and log c as an unevaluated sum. */
static const struct { double inverse, hi, lo; } cc_log_table[128] = {
    {0x1.6a00000000000p+0, -0x1.62c82f2b9c000p-2, -0x1.e54bdbd7c8a98p-44}, /* from 0.705078 */
    {0x1.6800000000000p+0, -0x1.5d1bdbf581000p-2, 0x1.8d6bdc9c7c238p-44}, /* from 0.708984 */
    {0x1.6600000000000p+0, -0x1.5767717456000p-2, 0x1.64ead9524d7cap-44}, /* from 0.712891 */
    {0x1.6400000000000p+0, -0x1.51aad872e0000p-2, 0x1.f4bd8db0a7cc1p-44}, /* from 0.716797 */
    {0x1.6200000000000p+0, -0x1.4be5f95778000p-2, 0x1.d7c92cd9ad824p-44}, /* from 0.720703 */
    {0x1.6080000000000p+0, -0x1.478cd5959b000p-2, -0x1.ec89bf0c8d098p-45}, /* from 0.724609 */
    {0x1.5e80000000000p+0, -0x1.41b941cce1000p-2, 0x1.0469013e43fc9p-44}, /* from 0.728516 */
    {0x1.5c80000000000p+0, -0x1.3bdd24eb15000p-2, 0x1.257b4970e6ed9p-44}, /* from 0.732422 */
    {0x1.5b00000000000p+0, -0x1.3772662bfe000p-2, 0x1.e9436ac53b023p-44}, /* from 0.736328 */
    {0x1.5900000000000p+0, -0x1.31871c9544000p-2, -0x1.84fab94cecfd9p-46}, /* from 0.740234 */
    {0x1.5700000000000p+0, -0x1.2b9303ab8a000p-2, 0x1.6db12d6bfb0a5p-45}, /* from 0.744141 */
    {0x1.5580000000000p+0, -0x1.27161913f8000p-2, -0x1.4f4f1f61564b4p-44}, /* from 0.748047 */
    {0x1.5380000000000p+0, -0x1.2112559861000p-2, -0x1.82e78ba2950c4p-44}, /* from 0.751953 */
    {0x1.5200000000000p+0, -0x1.1c898c169a000p-2, 0x1.81410e5c62affp-44}, /* from 0.755859 */
    {0x1.5000000000000p+0, -0x1.1675cababa000p-2, -0x1.8380e731f55c4p-44}, /* from 0.759766 */
    {0x1.4e80000000000p+0, -0x1.11e0e2dada000p-2, 0x1.a47f88fcce5bap-45}, /* from 0.763672 */
    {0x1.4c80000000000p+0, -0x1.0bbccdb0d2000p-2, -0x1.2f32ccc5dcdfbp-44}, /* from 0.767578 */
    {0x1.4b00000000000p+0, -0x1.071b85fcd6000p-2, 0x1.bcb8ba3e01a11p-44}, /* from 0.771484 */
    {0x1.4980000000000p+0, -0x1.0274dc16c2000p-2, -0x1.979e89cf835c2p-45}, /* from 0.775391 */
    {0x1.4780000000000p+0, -0x1.f871b28956000p-3, 0x1.f75fd6a526efep-44}, /* from 0.779297 */
    {0x1.4600000000000p+0, -0x1.ef0adcbdc6000p-3, 0x1.b26b79c86af24p-45}, /* from 0.783203 */
    {0x1.4480000000000p+0, -0x1.e598ed5a88000p-3, 0x1.d134bcf1e98a1p-47}, /* from 0.787109 */
    {0x1.4300000000000p+0, -0x1.dc1bca0abe000p-3, -0x1.8fac1a628ccc6p-44}, /* from 0.791016 */
    {0x1.4180000000000p+0, -0x1.d293581b6c000p-3, 0x1.83270128aaa5fp-44}, /* from 0.794922 */
    {0x1.3f80000000000p+0, -0x1.c5cba543ae000p-3, -0x1.0929decb454fcp-45}, /* from 0.798828 */
    {0x1.3e00000000000p+0, -0x1.bc286742d8000p-3, -0x1.9ac53f39d121cp-44}, /* from 0.802734 */
    {0x1.3c80000000000p+0, -0x1.b2797ee464000p-3, 0x1.be88a906d00a9p-44}, /* from 0.806641 */
    {0x1.3b00000000000p+0, -0x1.a8becfc882000p-3, -0x1.e3185cf21b9cfp-44}, /* from 0.810547 */
    {0x1.3980000000000p+0, -0x1.9ef83d276a000p-3, 0x1.730b7b3f9ce00p-45}, /* from 0.814453 */
    {0x1.3800000000000p+0, -0x1.9525a9cf46000p-3, 0x1.297137d9f158fp-44}, /* from 0.818359 */
    {0x1.3680000000000p+0, -0x1.8b46f82236000p-3, -0x1.2d9f2102dd7c9p-46}, /* from 0.822266 */
    {0x1.3500000000000p+0, -0x1.815c0a1436000p-3, 0x1.02a52f9201ce8p-44}, /* from 0.826172 */
    {0x1.3380000000000p+0, -0x1.7764c128f2000p-3, -0x1.274903479e3d1p-47}, /* from 0.830078 */
    {0x1.3200000000000p+0, -0x1.6d60fe719e000p-3, 0x1.bc6e557134767p-44}, /* from 0.833984 */
    {0x1.3100000000000p+0, -0x1.66acd4272a000p-3, -0x1.aa1bdbfc6c785p-44}, /* from 0.837891 */
    {0x1.2f80000000000p+0, -0x1.5c94007598000p-3, 0x1.a8d948cd23322p-44}, /* from 0.841797 */
    {0x1.2e00000000000p+0, -0x1.526e5e3a1c000p-3, 0x1.790ba37fc5238p-44}, /* from 0.845703 */
    {0x1.2c80000000000p+0, -0x1.483bccce6e000p-3, -0x1.eea52723f6369p-46}, /* from 0.849609 */
    {0x1.2b80000000000p+0, -0x1.41682bf728000p-3, 0x1.10047081f849dp-45}, /* from 0.853516 */
    {0x1.2a00000000000p+0, -0x1.371fc201e8000p-3, -0x1.ee8779b2d8abcp-44}, /* from 0.857422 */
    {0x1.2880000000000p+0, -0x1.2cca0f5f60000p-3, 0x1.b5ef191aff120p-44}, /* from 0.861328 */
    {0x1.2700000000000p+0, -0x1.2266f190a6000p-3, 0x1.4d20ab840e7f6p-45}, /* from 0.865234 */
    {0x1.2600000000000p+0, -0x1.1b72ad52f6000p-3, -0x1.e80a41811a396p-45}, /* from 0.869141 */
    {0x1.2480000000000p+0, -0x1.10f8e42254000p-3, 0x1.93b3843396307p-45}, /* from 0.873047 */
    {0x1.2380000000000p+0, -0x1.09f561ee72000p-3, 0x1.8f3057157d1a8p-45}, /* from 0.876953 */
    {0x1.2200000000000p+0, -0x1.fec9131dc0000p-4, 0x1.54555d1ae6607p-44}, /* from 0.880859 */
    {0x1.2080000000000p+0, -0x1.e98b549670000p-4, -0x1.4677489c50e97p-44}, /* from 0.884766 */
    {0x1.1f80000000000p+0, -0x1.db5270187c000p-4, -0x1.9277856ae181fp-44}, /* from 0.888672 */
    {0x1.1e00000000000p+0, -0x1.c5e548f5bc000p-4, -0x1.d0c57585fbe06p-46}, /* from 0.892578 */
    {0x1.1d00000000000p+0, -0x1.b78c82bb10000p-4, 0x1.25ef7bc3987e7p-44}, /* from 0.896484 */
    {0x1.1b80000000000p+0, -0x1.a1ef1d8060000p-4, -0x1.cd4176df97bcbp-44}, /* from 0.900391 */
    {0x1.1a80000000000p+0, -0x1.9375e55594000p-4, -0x1.eddc37380c364p-44}, /* from 0.904297 */
    {0x1.1980000000000p+0, -0x1.84ef898e84000p-4, 0x1.7d5cd246977c9p-44}, /* from 0.908203 */
    {0x1.1800000000000p+0, -0x1.6f0d28ae58000p-4, 0x1.4b4641b664613p-44}, /* from 0.912109 */
    {0x1.1700000000000p+0, -0x1.60658a9374000p-4, -0x1.0c3b1dee9c4f8p-44}, /* from 0.916016 */
    {0x1.1580000000000p+0, -0x1.4a50d3aa1c000p-4, 0x1.f7fe1308973e2p-45}, /* from 0.919922 */
    {0x1.1480000000000p+0, -0x1.3b87598b1c000p-4, 0x1.2241594aca313p-45}, /* from 0.923828 */
    {0x1.1380000000000p+0, -0x1.2cb0283f5c000p-4, -0x1.e1ee2ca657021p-44}, /* from 0.927734 */
    {0x1.1200000000000p+0, -0x1.16536eea38000p-4, 0x1.47c5e768fa309p-46}, /* from 0.931641 */
    {0x1.1100000000000p+0, -0x1.0759835990000p-4, 0x1.b8ecfe4b59987p-44}, /* from 0.935547 */
    {0x1.1000000000000p+0, -0x1.f0a30c0118000p-5, 0x1.d599e83368e91p-45}, /* from 0.939453 */
    {0x1.0f00000000000p+0, -0x1.d276b8adb0000p-5, -0x1.6a423c78a64b0p-46}, /* from 0.943359 */
    {0x1.0d80000000000p+0, -0x1.a4fe9ffa40000p-5, 0x1.6e584a0402925p-44}, /* from 0.947266 */
    {0x1.0c80000000000p+0, -0x1.868a830840000p-5, 0x1.2623a134ac693p-46}, /* from 0.951172 */
    {0x1.0b80000000000p+0, -0x1.67f94f0948000p-5, -0x1.ecc1f3e7e4ed7p-44}, /* from 0.955078 */
    {0x1.0a80000000000p+0, -0x1.494acc34d8000p-5, -0x1.11c78a56fd247p-45}, /* from 0.958984 */
    {0x1.0980000000000p+0, -0x1.2a7ec22150000p-5, 0x1.78ce77a9163fep-45}, /* from 0.962891 */
    {0x1.0880000000000p+0, -0x1.0b94f7c198000p-5, 0x1.e89896f022783p-45}, /* from 0.966797 */
    {0x1.0700000000000p+0, -0x1.b9fc027b00000p-6, 0x1.b9a010ae6922ap-44}, /* from 0.970703 */
    {0x1.0600000000000p+0, -0x1.7b91b07d60000p-6, 0x1.3b955b602ace4p-44}, /* from 0.974609 */
    {0x1.0500000000000p+0, -0x1.3cea443470000p-6, 0x1.6a2c432d6a40bp-44}, /* from 0.978516 */
    {0x1.0400000000000p+0, -0x1.fc0a8b0fc0000p-7, -0x1.f1e7cf6d3a69cp-50}, /* from 0.982422 */
    {0x1.0300000000000p+0, -0x1.7dc475f820000p-7, 0x1.eb1245b5da1f5p-44}, /* from 0.986328 */
    {0x1.0200000000000p+0, -0x1.fe02a6b100000p-8, -0x1.9e23f0dda40e4p-46}, /* from 0.990234 */
    {0x1.0100000000000p+0, -0x1.ff00aa2b00000p-9, -0x1.0bc04a086b56ap-45}, /* from 0.994141 */
    {0x1p+0, 0.0, 0.0}, /* from 0.998047 */
    {0x1.fc00000000000p-1, 0x1.0101575880000p-7, 0x1.bce251998b506p-44}, /* from 1.003906 */
    {0x1.f800000000000p-1, 0x1.0205658930000p-6, 0x1.611d27c8e8417p-44}, /* from 1.011719 */
    {0x1.f400000000000p-1, 0x1.8492528c90000p-6, -0x1.aa0ba325a0c34p-45}, /* from 1.019531 */
    {0x1.f000000000000p-1, 0x1.0415d89e78000p-5, -0x1.dddc7f461c516p-44}, /* from 1.027344 */
    {0x1.ed00000000000p-1, 0x1.35c8bfaa10000p-5, 0x1.8357d5ef9eb35p-44}, /* from 1.035156 */
    {0x1.e900000000000p-1, 0x1.788595a358000p-5, -0x1.08b0d083b3a4cp-46}, /* from 1.042969 */
    {0x1.e500000000000p-1, 0x1.bbcebfc690000p-5, -0x1.7bf868c317c2ap-46}, /* from 1.050781 */
    {0x1.e200000000000p-1, 0x1.eea31c0068000p-5, 0x1.c3dd83606d891p-44}, /* from 1.058594 */
    {0x1.de00000000000p-1, 0x1.1973bd1464000p-4, 0x1.566d154f930b3p-44}, /* from 1.066406 */
    {0x1.db00000000000p-1, 0x1.333d7f8184000p-4, -0x1.692b6a81b8848p-49}, /* from 1.074219 */
    {0x1.d700000000000p-1, 0x1.55e10050e0000p-4, 0x1.c1d740c53c72ep-47}, /* from 1.082031 */
    {0x1.d400000000000p-1, 0x1.700d30aeac000p-4, 0x1.c1e8da99ded32p-49}, /* from 1.089844 */
    {0x1.d100000000000p-1, 0x1.8a6477a91c000p-4, 0x1.c28c0af9bd6dfp-44}, /* from 1.097656 */
    {0x1.ce00000000000p-1, 0x1.a4e7640b1c000p-4, -0x1.e42b6b94407c8p-47}, /* from 1.105469 */
    {0x1.ca00000000000p-1, 0x1.c885801bc4000p-4, 0x1.646d1c65aacd3p-45}, /* from 1.113281 */
    {0x1.c700000000000p-1, 0x1.e3707ee304000p-4, 0x1.0f684e6766abdp-45}, /* from 1.121094 */
    {0x1.c400000000000p-1, 0x1.fe89139dbc000p-4, 0x1.56594d82f7a82p-44}, /* from 1.128906 */
    {0x1.c100000000000p-1, 0x1.0ce7ecdccc000p-3, 0x1.4652dabff5447p-46}, /* from 1.136719 */
    {0x1.be00000000000p-1, 0x1.1aa2b7e240000p-3, -0x1.1ac38dde3b366p-44}, /* from 1.144531 */
    {0x1.bb00000000000p-1, 0x1.28753bc11a000p-3, 0x1.7494e359302e6p-44}, /* from 1.152344 */
    {0x1.b800000000000p-1, 0x1.365fcb015a000p-3, -0x1.fd3a0afb9691bp-44}, /* from 1.160156 */
    {0x1.b500000000000p-1, 0x1.4462b9dc9c000p-3, -0x1.84858a711b062p-44}, /* from 1.167969 */
    {0x1.b200000000000p-1, 0x1.527e5e4a1c000p-3, -0x1.4e60b8d4b411dp-44}, /* from 1.175781 */
    {0x1.af00000000000p-1, 0x1.60b3100b0a000p-3, -0x1.71456c988f814p-44}, /* from 1.183594 */
    {0x1.ac00000000000p-1, 0x1.6f0128b756000p-3, 0x1.577390d31ef0fp-44}, /* from 1.191406 */
    {0x1.aa00000000000p-1, 0x1.7898d85444000p-3, 0x1.8e67be3dbaf3fp-44}, /* from 1.199219 */
    {0x1.a700000000000p-1, 0x1.871213750e000p-3, 0x1.328eb42f9af75p-44}, /* from 1.207031 */
    {0x1.a400000000000p-1, 0x1.95a5adcf70000p-3, 0x1.7f22858a0ff6fp-47}, /* from 1.214844 */
    {0x1.a100000000000p-1, 0x1.a454082e6a000p-3, 0x1.60a77c81f7171p-44}, /* from 1.222656 */
    {0x1.9f00000000000p-1, 0x1.ae2ca6f672000p-3, 0x1.7a8d5ae54f550p-44}, /* from 1.230469 */
    {0x1.9c00000000000p-1, 0x1.bd087383be000p-3, -0x1.d4bc4595412b6p-45}, /* from 1.238281 */
    {0x1.9a00000000000p-1, 0x1.c6ffbc6f00000p-3, 0x1.ee138d3a69d43p-44}, /* from 1.246094 */
    {0x1.9700000000000p-1, 0x1.d60a17f904000p-3, -0x1.5d6e06fc20d39p-44}, /* from 1.253906 */
    {0x1.9500000000000p-1, 0x1.e020cc6236000p-3, -0x1.52b00adb91424p-45}, /* from 1.261719 */
    {0x1.9200000000000p-1, 0x1.ef5ade4dd0000p-3, -0x1.a211565bb8e11p-51}, /* from 1.269531 */
    {0x1.9000000000000p-1, 0x1.f991c6cb3c000p-3, -0x1.90d04cd7cc834p-44}, /* from 1.277344 */
    {0x1.8d00000000000p-1, 0x1.047e60cde8000p-2, 0x1.dbdf10d397f3cp-45}, /* from 1.285156 */
    {0x1.8b00000000000p-1, 0x1.09aa572e6c000p-2, 0x1.b50a1e1734342p-44}, /* from 1.292969 */
    {0x1.8800000000000p-1, 0x1.1178e8227e000p-2, 0x1.1ef78ce2d07f2p-44}, /* from 1.300781 */
    {0x1.8600000000000p-1, 0x1.16b5ccbad0000p-2, -0x1.23299042d74bfp-44}, /* from 1.308594 */
    {0x1.8400000000000p-1, 0x1.1bf99635a7000p-2, -0x1.1ac89575c2125p-44}, /* from 1.316406 */
    {0x1.8200000000000p-1, 0x1.214456d0ec000p-2, -0x1.caf0428b728a3p-44}, /* from 1.324219 */
    {0x1.7f00000000000p-1, 0x1.2941afb187000p-2, -0x1.210c2b730e28bp-44}, /* from 1.332031 */
    {0x1.7d00000000000p-1, 0x1.2e9e2bce12000p-2, 0x1.4300c128d1dc2p-45}, /* from 1.339844 */
    {0x1.7b00000000000p-1, 0x1.3401e12aed000p-2, -0x1.17c73556e291dp-44}, /* from 1.347656 */
    {0x1.7900000000000p-1, 0x1.396ce359bc000p-2, -0x1.5839c5663663dp-47}, /* from 1.355469 */
    {0x1.7600000000000p-1, 0x1.419b423d5f000p-2, -0x1.ce379226de3ecp-44}, /* from 1.363281 */
    {0x1.7400000000000p-1, 0x1.4718dc271c000p-2, 0x1.06c18fb4c14c5p-44}, /* from 1.371094 */
    {0x1.7200000000000p-1, 0x1.4c9e09e173000p-2, -0x1.e20891b0ad8a4p-45}, /* from 1.378906 */
    {0x1.7000000000000p-1, 0x1.522ae0738a000p-2, 0x1.ebe708164c759p-45}, /* from 1.386719 */
    {0x1.6e00000000000p-1, 0x1.57bf753c8d000p-2, 0x1.fadedee5d40efp-46}, /* from 1.394531 */
    {0x1.6c00000000000p-1, 0x1.5d5bddf596000p-2, -0x1.a0b2a08a465dcp-47}, /* from 1.402344 */
};

/* atan(i/16) as unevaluated sums. */
static const CcPair cc_atan_table[17] = {
    {0.0, 0.0}, /* i = 0 */
    {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60}, /* i = 1 */
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59}, /* i = 2 */
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58}, /* i = 3 */
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57}, /* i = 4 */
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57}, /* i = 5 */
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56}, /* i = 6 */
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56}, /* i = 7 */
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56}, /* i = 8 */
    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56}, /* i = 9 */
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58}, /* i = 10 */
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55}, /* i = 11 */
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56}, /* i = 12 */
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57}, /* i = 13 */
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56}, /* i = 14 */
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56}, /* i = 15 */
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}, /* i = 16 */
};

/* The bits of 2/pi behind 64 zeros. */
static const unsigned cc_two_over_pi[39] = {
    0x00000000, 0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
    0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E,
    0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B,
    0x1FF897FF, 0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
    0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046};
/* --- end of the constants --- */

#define CC_NEAREST_INTEGER 0x1.8p52 /* added and taken away rounds to an integer; its last bits are that integer */
#define CC_NAN __builtin_nan("")
#define CC_INFINITY __builtin_inf()

/* --- bits and pairs --- */

static inline unsigned long long cc_bits(double a)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    return bits;
}

static inline double cc_from_bits(unsigned long long bits)
{
    double a;
    __builtin_memcpy(&a, &bits, sizeof a);
    return a;
}

static inline double cc_magnitude(double a) { return cc_from_bits(cc_bits(a) & ~0ull >> 1); }
static inline double cc_with_sign(double magnitude, double sign)
{
    return cc_from_bits(cc_bits(magnitude) | (cc_bits(sign) & 1ull << 63));
}

/* a cut to its first 53 - dropped bits. */
static inline double cc_cut(double a, int dropped) { return cc_from_bits(cc_bits(a) >> dropped << dropped); }

static inline double cc_power_of_two(int k) { return cc_from_bits((unsigned long long)(k + 1023) << 52); } /* normal */

/* a 2^k for |k| < 4000; rounded more than once if the result is subnormal. */
static inline double cc_times_power_of_two(double a, int k)
{
    double quarter = cc_power_of_two(k / 4);
    return a * quarter * quarter * quarter * cc_power_of_two(k - 3 * (k / 4));
}

/* a + b, exact for |a| >= |b|, a = 0, or a sum that is a double. */
static inline CcPair cc_pair(double a, double b)
{
    double hi = a + b;
    return (CcPair){hi, b - (hi - a)};
}

/* a + b, exact. */
static inline CcPair cc_pair_sum(double a, double b)
{
    double hi = a + b, b_in_hi = hi - a;
    return (CcPair){hi, (a - (hi - b_in_hi)) + (b - b_in_hi)};
}

/* a b to 2^-104 of it. */
static inline CcPair cc_pair_product(double a, double b)
{
    double a_hi = cc_cut(a, 27), a_lo = a - a_hi, b_hi = cc_cut(b, 27), b_lo = b - b_hi;
    double hi = a * b;
    return (CcPair){hi, (((a_hi * b_hi - hi) + a_hi * b_lo) + a_lo * b_hi) + a_lo * b_lo};
}

/* a / b to about 2^-100 of it. */
static inline CcPair cc_pair_ratio(CcPair a, CcPair b)
{
    double hi = a.hi / b.hi;
    CcPair back = cc_pair_product(hi, b.hi);
    return (CcPair){hi, ((((a.hi - back.hi) - back.lo) + a.lo) - hi * b.lo) / b.hi};
}

/* a^2 + b^2. */
static inline CcPair cc_pair_squares(double a, double b)
{
    CcPair aa = cc_pair_product(a, a), bb = cc_pair_product(b, b);
    CcPair sum = cc_pair_sum(aa.hi, bb.hi);
    return cc_pair(sum.hi, sum.lo + (aa.lo + bb.lo));
}

/* --- double versions ---
 *
 * `direction` of a function (*_at): in, the direction of its argument; out, that of its value.  NULL if not wanted. */

/* NaN for the argument x, which is one or allows no other value. */
static inline double cc_undefined(double x, double *direction)
{
    if (direction)
        *direction = 0.0;
    return x != x ? x + x : CC_NAN;
}

/* Takes the nearest multiple n of pi/2 from a finite x; returns the last two bits of n.
 * |x| >= 2^20: of the product of x = m 2^e with 2/pi, the bits of weight 4 and more are left out before it is formed;
 * 190 bits behind the point remain, of which at most 62 or so are zeros for any double (Muller, 11.4). */
static __attribute__((noinline)) int cc_reduce_large(double x, CcPair *rest)
{
    unsigned long long m = (cc_bits(x) & ~0ull >> 12) | 1ull << 52;
    int e = (int)(cc_bits(x) >> 52 & 0x7FF) - 1075;
    int first = e - 2 + 64; /* of the table's bits; weight of the product there: 2 */
    unsigned long long carry[2] = {0, 0}, product[6];
    unsigned long long factor[2] = {m & 0xFFFFFFFF, m >> 32};
    unsigned long long limb[6];
    for (int i = 0; i < 6; i++) { /* least significant first */
        const unsigned *word = cc_two_over_pi + first / 32 + 5 - i;
        limb[i] = (((unsigned long long)word[0] << 32 | word[1]) << first % 32 >> 32) & 0xFFFFFFFF;
        product[i] = 0;
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i + j < 6; i++) {
            unsigned long long sum = factor[j] * limb[i] + product[i + j] + carry[j];
            product[i + j] = sum & 0xFFFFFFFF;
            carry[j] = sum >> 32;
        }
    unsigned long long high = product[5] << 32 | product[4], middle = product[3] << 32 | product[2];
    unsigned long long low = product[1] << 32 | product[0];
    int quadrant = (int)(high >> 62);
    high = high << 2 | middle >> 62; /* the fraction, of weight 1/2 and less */
    middle = middle << 2 | low >> 62;
    low <<= 2;
    int negative = (int)(high >> 63); /* at 1/2 and more the next multiple is nearer */
    if (negative) {
        quadrant++;
        low = 0 - low;
        middle = ~middle + (low == 0);
        high = ~high + (low == 0 && middle == 0);
    }
    int shift = 0;
    for (; !(high >> 63) && shift < 128; shift++) {
        high = high << 1 | middle >> 63;
        middle = middle << 1 | low >> 63;
        low <<= 1;
    }
    double scale = cc_power_of_two(-53 - shift);
    double f_hi = (double)(long long)(high >> 11) * scale;
    double f_lo = (double)(long long)((high << 53 | middle >> 11) >> 11) * (scale * 0x1p-53);
    if (negative != (x < 0.0))
        f_hi = -f_hi, f_lo = -f_lo;
    CcPair y = cc_pair_product(f_hi, CC_HALF_PI_HI);
    *rest = cc_pair(y.hi, y.lo + (f_hi * CC_HALF_PI_LO + f_lo * CC_HALF_PI_HI));
    return (x < 0.0 ? -quadrant : quadrant) & 3;
}

/* The same for any finite x.  The products with n < 2^20 are exact, and so is the first difference. */
static inline int cc_reduce(double x, CcPair *rest)
{
    if (cc_magnitude(x) < 0.785) {
        *rest = (CcPair){x, 0.0};
        return 0;
    }
    if (cc_magnitude(x) >= 0x1p20)
        return cc_reduce_large(x, rest);
    double shifted = x * CC_TWO_OVER_PI + CC_NEAREST_INTEGER;
    double n = shifted - CC_NEAREST_INTEGER;
    double y = x - n * CC_HALF_PI_1;
    if (cc_magnitude(y) > 0x1p-13) { /* then it is above n pi/2's second part */
        CcPair z = cc_pair(y, -(n * CC_HALF_PI_2));
        *rest = cc_pair(z.hi, z.lo - n * CC_HALF_PI_34);
    } else {
        CcPair z = cc_pair_sum(y, -(n * CC_HALF_PI_2));
        CcPair w = cc_pair_sum(z.hi, -(n * CC_HALF_PI_3));
        *rest = cc_pair_sum(w.hi, (w.lo + z.lo) - n * CC_HALF_PI_4);
    }
    return (int)(cc_bits(shifted) & 3);
}

/* sin y for |y| <= pi/4.  t^3/6 is exact for the first 9 bits t of y, and y^3 - t^3 = (y - t)(y^2 + y t + t^2). */
static inline CcPair cc_sin_pair(CcPair y)
{
    double z = y.hi * y.hi, zz = z * z, t = cc_cut(y.hi, 44), ttt = t * t * t;
    const double *c = cc_sin_tail;
    double tail = (c[0] + zz * (c[2] + zz * c[4])) + z * (c[1] + zz * (c[3] + zz * c[5]));
    CcPair sum = cc_pair(y.hi, CC_SIN_3_HI * ttt);
    double cubic = CC_SIN_3_LO * ttt + CC_SIN_3 * (y.hi - t) * (z + t * (y.hi + t));
    return cc_pair(sum.hi, sum.lo + (cubic + (y.hi * zz * tail + y.lo * (1.0 - 0.5 * z))));
}

/* cos y for |y| <= pi/4.  t^2/2 is exact for the first 26 bits t of y. */
static inline CcPair cc_cos_pair(CcPair y)
{
    double z = y.hi * y.hi, zz = z * z, t = cc_cut(y.hi, 27);
    const double *c = cc_cos_tail;
    double tail = (c[0] + zz * (c[2] + zz * c[4])) + z * (c[1] + zz * (c[3] + zz * c[5]));
    CcPair sum = cc_pair(1.0, -0.5 * (t * t));
    double square = 0.5 * ((y.hi - t) * (y.hi + t)) + y.hi * y.lo;
    return cc_pair(sum.hi, sum.lo + (zz * tail - square));
}

/* sin(x + quadrants pi/2) */
static inline double cc_sin_at(double x, int quadrants, double *direction)
{
    if (!cc_is_finite(x))
        return cc_undefined(x, direction);
    CcPair y;
    int n = cc_reduce(x, &y) + quadrants;
    CcPair value = n & 1 ? cc_cos_pair(y) : cc_sin_pair(y);
    if (direction) {
        CcPair slope = n & 1 ? cc_sin_pair(y) : cc_cos_pair(y);
        *direction *= (n + 1) & 2 ? -slope.hi : slope.hi;
    }
    if (!quadrants && cc_magnitude(x) < 0x1p-27) /* also keeps the sign of 0 */
        return x;
    return n & 2 ? -value.hi : value.hi;
}

/* sin x and cos x at once, with the bits of cc_sin_at. */
static inline void cc_sin_cos_at(double x, double *sine, double *cosine)
{
    if (!cc_is_finite(x)) {
        *sine = *cosine = cc_undefined(x, 0);
        return;
    }
    CcPair y;
    int n = cc_reduce(x, &y);
    double s = cc_sin_pair(y).hi, c = cc_cos_pair(y).hi;
    double across = n & 1 ? c : s, along = n & 1 ? s : c;
    *sine = cc_magnitude(x) < 0x1p-27 ? x : n & 2 ? -across : across;
    *cosine = (n + 1) & 2 ? -along : along;
}

static inline double cc_tan_at(double x, double *direction)
{
    if (!cc_is_finite(x))
        return cc_undefined(x, direction);
    if (cc_magnitude(x) < 0x1p-27) /* the derivative is 1 + x^2 */
        return x;
    CcPair y;
    int odd = cc_reduce(x, &y) & 1;
    CcPair s = cc_sin_pair(y), c = cc_cos_pair(y);
    CcPair divisor = odd ? s : c;
    if (direction) {
        CcPair square = cc_pair_product(divisor.hi, divisor.hi);
        *direction /= square.hi + (square.lo + 2.0 * (divisor.hi * divisor.lo));
    }
    CcPair value = odd ? cc_pair_ratio((CcPair){-c.hi, -c.lo}, s) : cc_pair_ratio(s, c);
    return value.hi + value.lo;
}

/* asin x - x for |x| <= 1/2 */
static inline double cc_asin_rest(double x)
{
    double z = x * x, zz = z * z, z4 = zz * zz;
    const double *c = cc_asin_tail;
    double low = (c[0] + z * c[1]) + zz * (c[2] + z * c[3]);
    double middle = (c[4] + z * c[5]) + zz * (c[6] + z * c[7]);
    double high = (c[8] + z * c[9]) + zz * (c[10] + z * c[11]) + z4 * (c[12] + z * c[13]);
    return x * z * (low + z4 * (middle + z4 * high));
}

/* asin sqrt((1 - a)/2) for 1/2 <= a <= 1 */
static inline CcPair cc_asin_of_complement(double a)
{
    double square = 0.5 * (1.0 - a), root = __builtin_sqrt(square);
    CcPair back = cc_pair_product(root, root);
    double missing = root > 0.0 ? ((square - back.hi) - back.lo) / (2.0 * root) : 0.0;
    return cc_pair(root, missing + cc_asin_rest(root));
}

/* d asin x = dx / sqrt((1 - x)(1 + x)) */
static inline void cc_asin_direction(double x, double *direction)
{
    CcPair a = cc_pair_sum(1.0, -x), b = cc_pair_sum(1.0, x);
    CcPair square = cc_pair_product(a.hi, b.hi);
    square.lo += a.hi * b.lo + a.lo * b.hi;
    double root = __builtin_sqrt(square.hi);
    if (root > 0.0) {
        CcPair back = cc_pair_product(root, root);
        *direction /= root + (((square.hi - back.hi) - back.lo) + square.lo) / (2.0 * root);
    } else
        *direction = 0.0;
}

static inline double cc_asin_at(double x, double *direction)
{
    double a = cc_magnitude(x);
    if (!(a <= 1.0))
        return cc_undefined(x, direction);
    if (direction)
        cc_asin_direction(x, direction);
    if (a < 0x1p-27)
        return x;
    if (a < 0.5)
        return x + cc_asin_rest(x);
    CcPair half = cc_asin_of_complement(a);
    CcPair value = cc_pair(CC_HALF_PI_HI, -2.0 * half.hi);
    return cc_with_sign(value.hi + (value.lo + (CC_HALF_PI_LO - 2.0 * half.lo)), x);
}

static inline double cc_acos_at(double x, double *direction)
{
    double a = cc_magnitude(x);
    if (!(a <= 1.0))
        return cc_undefined(x, direction);
    if (direction) {
        cc_asin_direction(x, direction);
        *direction = -*direction;
    }
    if (a < 0.5) {
        CcPair value = cc_pair(CC_HALF_PI_HI, -x);
        return value.hi + (value.lo + (CC_HALF_PI_LO - cc_asin_rest(x)));
    }
    CcPair half = cc_asin_of_complement(a);
    if (x > 0.0)
        return 2.0 * (half.hi + half.lo);
    CcPair value = cc_pair(CC_PI_HI, -2.0 * half.hi);
    return value.hi + (value.lo + (CC_PI_LO - 2.0 * half.lo));
}

/* atan(n/d) for 0 < n <= d, 2^-500 < d < 2^500:  atan n/d = atan c + atan((n - c d)/(d + c n)) with c = i/16, 5 bits */
static inline CcPair cc_atan_pair(double n, double d)
{
    int i = (int)(n / d * 16.0 + 0.49999); /* a little less than 1/2: c is at most 2 n/d, so n - c d_hi is exact */
    double c = (double)i * 0.0625;
    double d_hi = cc_cut(d, 27), n_hi = cc_cut(n, 27);
    CcPair numerator = cc_pair_sum(n - c * d_hi, -(c * (d - d_hi)));
    CcPair denominator = cc_pair(d, c * n_hi);
    denominator = cc_pair(denominator.hi, denominator.lo + c * (n - n_hi));
    CcPair t = cc_pair_ratio(numerator, denominator);
    double z = t.hi * t.hi;
    const double *p = cc_atan_tail;
    double rest = t.hi * z * (p[0] + z * (p[1] + z * (p[2] + z * (p[3] + z * p[4]))));
    CcPair sum = cc_pair(cc_atan_table[i].hi, t.hi);
    return cc_pair(sum.hi, sum.lo + (cc_atan_table[i].lo + t.lo + rest));
}

static inline double cc_atan_at(double x, double *direction)
{
    if (x != x)
        return cc_undefined(x, direction);
    double a = cc_magnitude(x);
    if (direction) {
        if (a < 0x1p500) {
            CcPair square = cc_pair_squares(1.0, x);
            *direction /= square.hi + square.lo;
        } else
            *direction = *direction / a / a;
    }
    if (a < 0x1p-27)
        return x;
    if (a > 0x1p60)
        return cc_with_sign(CC_HALF_PI_HI, x);
    if (a <= 1.0)
        return cc_with_sign(cc_atan_pair(a, 1.0).hi, x);
    CcPair complement = cc_atan_pair(1.0, a);
    CcPair value = cc_pair(CC_HALF_PI_HI, -complement.hi);
    return cc_with_sign(value.hi + (value.lo + (CC_HALF_PI_LO - complement.lo)), x);
}

/* directions: of y and of x; the first takes that of the value. */
static inline double cc_atan2_at(double y, double x, double *directions)
{
    if (x != x || y != y)
        return cc_undefined(x != x ? x : y, directions);
    double a = cc_magnitude(y), b = cc_magnitude(x);
    int x_negative = (int)(cc_bits(x) >> 63);
    if (!(a < CC_INFINITY) || !(b < CC_INFINITY) || (a == 0.0 && b == 0.0)) {
        if (directions)
            directions[0] = 0.0; /* what it tends to at infinity */
        double angle = x_negative ? CC_PI_HI : 0.0;
        if (a > b)
            angle = CC_HALF_PI_HI;
        else if (a == b && a != 0.0)
            angle = x_negative ? CC_THREE_QUARTERS_PI : 0.5 * CC_HALF_PI_HI;
        return cc_with_sign(angle, y);
    }
    double largest = a > b ? a : b;
    double scale = largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-100 ? 0x1p600 : 1.0;
    double n = a * scale, d = b * scale;
    if (directions) {
        CcPair square = cc_pair_squares(n, d);
        CcPair by_y = cc_pair_ratio((CcPair){d, 0.0}, square), by_x = cc_pair_ratio((CcPair){n, 0.0}, square);
        double of_y = (by_y.hi + by_y.lo) * (directions[0] * scale);
        double of_x = (by_x.hi + by_x.lo) * (directions[1] * scale);
        directions[0] = (x_negative ? -of_y : of_y) - (cc_bits(y) >> 63 ? -of_x : of_x);
    }
    CcPair angle; /* of (b, a), in 0 .. pi/2 */
    if (n < d * 0x1p-28) {
        if (!x_negative)
            return y / x;
        angle = (CcPair){n / d, 0.0};
    } else if (d < n * 0x1p-28)
        angle = cc_pair(CC_HALF_PI_HI, CC_HALF_PI_LO - d / n);
    else if (n <= d)
        angle = cc_atan_pair(n, d);
    else {
        CcPair complement = cc_atan_pair(d, n);
        angle = cc_pair(CC_HALF_PI_HI, -complement.hi);
        angle.lo += CC_HALF_PI_LO - complement.lo;
    }
    if (x_negative) {
        CcPair supplement = cc_pair(CC_PI_HI, -angle.hi);
        angle = (CcPair){supplement.hi, supplement.lo + (CC_PI_LO - angle.lo)};
    }
    return cc_with_sign(angle.hi + angle.lo, y);
}

/* exp(x + x_lo) = pair 2^exponent with 0.99 < pair < 2, for |x| <= 1400; error 2^-60. */
static inline CcPair cc_exp_pair(double x, double x_lo, int *exponent)
{
    double shifted = x * CC_EXP_PER_STEP + CC_NEAREST_INTEGER;
    double n = shifted - CC_NEAREST_INTEGER;
    int steps = (int)n;
    double r = (x - n * CC_EXP_STEP_HI) + (x_lo - n * CC_EXP_STEP_LO), rr = r * r;
    const double *c = cc_exp_tail;
    double p = r + rr * ((c[0] + r * c[1]) + rr * ((c[2] + r * c[3]) + rr * c[4]));
    CcPair power = cc_exp_table[steps & 63];
    *exponent = (steps - (steps & 63)) / 64;
    return cc_pair(power.hi, power.lo + power.hi * p);
}

/* a 2^k for 0.99 < a < 2, rounded once also where the result is subnormal. */
static inline double cc_scaled(CcPair a, int k)
{
    double value = a.hi + a.lo;
    if (k >= -1022 && k <= 1023 && (value >= 1.0 || k > -1022))
        return value * cc_power_of_two(k);
    if (k > 1023)
        return k > 1024 ? CC_INFINITY : value * 0x1p1023 * 2.0;
    if (k < -1076)
        return 0.0;
    double base = cc_power_of_two(-1022 - k); /* its last bit is the last bit of the result */
    CcPair sum = cc_pair(base, a.hi);
    return (sum.hi + (sum.lo + a.lo) - base) * cc_power_of_two(k + 1022) * 0x1p-1022;
}

static inline double cc_exp_at(double x, double *direction)
{
    if (x != x)
        return cc_undefined(x, direction);
    double value;
    if (x > 710.0)
        value = CC_INFINITY;
    else if (x < -746.0)
        value = 0.0;
    else {
        int k;
        CcPair power = cc_exp_pair(x, 0.0, &k);
        value = cc_scaled(power, k);
    }
    if (direction)
        *direction *= value;
    return value;
}

/* log x for finite x > 0; error 2^-67 of it.  x = m 2^e; mantissa and exponent on request.
 *
 * m/c - 1 = r_hi + r_lo exactly: 22 bits from the first bits of m, 42 from the others.  All high parts are multiples of
 * 2^-42 below 2^10, so their sum is exact, and so is r_hi^2.
 * log(1 + r) = r_hi + r_lo - r_hi^2/2 - r_lo (r_hi + r_lo/2) + r^3 P(r) */
static inline CcPair cc_log_pair(double x, double *mantissa, int *exponent)
{
    int e = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        e = -54;
    }
    unsigned long long from_start = cc_bits(x) - cc_bits(CC_LOG_START);
    int i = (int)(from_start >> 45 & 127);
    double m = cc_from_bits(cc_bits(x) - (from_start & 0xFFFull << 52));
    e += (int)((long long)(from_start & 0xFFFull << 52) / (1ll << 52));
    double m_hi = (m + 0x1.8p32) - 0x1.8p32; /* multiple of 2^-20 */
    double r_hi = m_hi * cc_log_table[i].inverse - 1.0, r_lo = (m - m_hi) * cc_log_table[i].inverse;
    double r = r_hi + r_lo, rr = r * r;
    const double *c = cc_log_tail;
    double tail = (c[0] + r * c[1]) + rr * ((c[2] + r * c[3]) + rr * ((c[4] + r * c[5]) + rr * c[6]));
    CcPair sum = cc_pair((double)e * CC_LOG_2_HI + cc_log_table[i].hi + r_hi, r_lo);
    CcPair all = cc_pair(sum.hi, -0.5 * (r_hi * r_hi));
    double low = (double)e * CC_LOG_2_LO + cc_log_table[i].lo;
    low = ((sum.lo + all.lo) + low) - r_lo * (r_hi + 0.5 * r_lo);
    if (mantissa)
        *mantissa = m, *exponent = e;
    return cc_pair(all.hi, low + r * rr * tail);
}

static inline double cc_log_at(double x, double *direction)
{
    if (direction)
        *direction = x > 0.0 ? *direction / x : 0.0;
    if (x == 0.0)
        return -CC_INFINITY;
    if (!(x > 0.0))
        return cc_undefined(x, direction);
    return x < CC_INFINITY ? cc_log_pair(x, 0, 0).hi : x;
}

/* 0 if y is not an integer, 1 if it is odd, 2 if it is even. */
static inline int cc_parity(double y)
{
    if (cc_magnitude(y) >= 0x1p53)
        return 2;
    long long n = (long long)y;
    return (double)n != y ? 0 : n & 1 ? 1 : 2;
}

/* x^y where x or y is 0, infinite or NaN, x^0 with x > 0 excepted. */
static inline double cc_pow_special(double x, double y)
{
    double a = cc_magnitude(x);
    if (x == 1.0 || y == 0.0)
        return 1.0;
    if (x != x)
        return x + x;
    if (y != y)
        return y + y;
    if (cc_magnitude(y) == CC_INFINITY)
        return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? CC_INFINITY : 0.0;
    double magnitude = (a > 1.0) == (y > 0.0) ? CC_INFINITY : 0.0;
    return cc_parity(y) == 1 ? cc_with_sign(magnitude, x) : magnitude;
}

/* directions: of x and of y; the first takes that of the value. */
static inline double cc_pow_at(double x, double y, double *directions)
{
    double a = cc_magnitude(x);
    if (!(a > 0.0) || !(a < CC_INFINITY) || !cc_is_finite(y)) {
        if (directions)
            directions[0] = x == 0.0 && y == 1.0 ? directions[0] : 0.0;
        return cc_pow_special(x, y);
    }
    int parity = x < 0.0 ? cc_parity(y) : 2;
    if (parity == 0)
        return cc_undefined(x, directions);
    double sign = parity == 1 ? -1.0 : 1.0;
    double mantissa;
    int e, k;
    CcPair logarithm = cc_log_pair(a, &mantissa, &e);
    double estimate = y * logarithm.hi;
    CcPair power = {1.0, 0.0};
    k = estimate > 0.0 ? 2900 : -2900; /* makes value and derivatives infinite or 0 */
    if (cc_magnitude(estimate) < 1400.0) {
        CcPair exponent = cc_pair_product(y, logarithm.hi);
        power = cc_exp_pair(exponent.hi, exponent.lo + y * logarithm.lo, &k);
    }
    if (directions) {
        CcPair per_x = cc_pair_ratio(power, (CcPair){mantissa, 0.0});
        int shift = cc_magnitude(y) < 0x1p-200 ? 900 : -2; /* y / 4 times the pair cannot overflow */
        double scaled = y * cc_power_of_two(shift);
        CcPair by_x = cc_pair_product(per_x.hi, scaled);
        double of_x = (by_x.hi + (by_x.lo + per_x.lo * scaled)) * directions[0];
        of_x = cc_times_power_of_two(x < 0.0 ? -sign * of_x : of_x, k - e - shift);
        double of_y = 0.0;
        if (x > 0.0) {
            CcPair by_y = cc_pair_product(power.hi, logarithm.hi);
            by_y.lo += power.hi * logarithm.lo + power.lo * logarithm.hi;
            of_y = cc_times_power_of_two((by_y.hi + by_y.lo) * directions[1], k);
        }
        directions[0] = of_x + of_y;
    }
    return sign * cc_scaled(power, k);
}

static inline double cc_tanh_at(double x, double *direction)
{
    if (x != x)
        return cc_undefined(x, direction);
    double a = cc_magnitude(x);
    if (a < 0.25) {
        double z = x * x, zz = z * z;
        const double *c = cc_tanh_tail;
        double low = (c[0] + z * c[1]) + zz * (c[2] + z * c[3]), high = (c[4] + z * c[5]) + zz * (c[6] + z * c[7]);
        double value = a < 0x1p-28 ? x : x + x * z * (low + zz * zz * high);
        if (direction)
            *direction *= 1.0 - value * value;
        return value;
    }
    if (a > 22.0) { /* e is below 1e-19 */
        if (direction)
            *direction *= 4.0 * cc_exp_at(-2.0 * a, 0);
        return cc_with_sign(1.0, x);
    }
    int k;
    CcPair e = cc_exp_pair(-2.0 * a, 0.0, &k);
    double scale = cc_power_of_two(k);
    e = (CcPair){e.hi * scale, e.lo * scale};
    CcPair sum = cc_pair(1.0, e.hi);
    sum.lo += e.lo;
    CcPair q = cc_pair_ratio((CcPair){2.0 * e.hi, 2.0 * e.lo}, sum);
    if (direction) { /* 1 - (1 - q)^2 = q (2 - q) */
        CcPair d = cc_pair(2.0, -q.hi), slope = cc_pair_product(q.hi, d.hi);
        *direction *= slope.hi + (slope.lo + (q.lo * d.hi + q.hi * (d.lo - q.lo)));
    }
    CcPair value = cc_pair(1.0, -q.hi);
    return cc_with_sign(value.hi + (value.lo - q.lo), x);
}

/* --- Real versions --- */

#ifdef CC_DUAL
#define CC_ELEMENTARY(call)                                                                                            \
    double direction = __imag__ a, *wanted = direction != 0.0 ? &direction : 0;                                        \
    double value = call;                                                                                               \
    return cc_real(value, direction);
#define CC_ELEMENTARY_2(call)                                                                                          \
    double directions[2] = {__imag__ a, __imag__ b};                                                                   \
    double *wanted = directions[0] != 0.0 || directions[1] != 0.0 ? directions : 0;                                    \
    double value = call;                                                                                               \
    return cc_real(value, directions[0]);
#else
#define CC_ELEMENTARY(call) double *wanted = 0; return call;
#define CC_ELEMENTARY_2(call) CC_ELEMENTARY(call)
#endif

/* Of an angle in rad. */
CC_API Real cc_sin(Real a) { CC_ELEMENTARY(cc_sin_at(re(a), 0, wanted)) }
CC_API Real cc_cos(Real a) { CC_ELEMENTARY(cc_sin_at(re(a), 1, wanted)) }
/* Both, for the time of one and a half. */
CC_API void cc_sin_cos(Real a, Real *sine, Real *cosine)
{
    double s, c;
    cc_sin_cos_at(re(a), &s, &c);
#ifdef CC_DUAL
    int known = cc_is_finite(re(a));
    *sine = cc_real(s, known ? c * __imag__ a : 0.0);
    *cosine = cc_real(c, known ? -s * __imag__ a : 0.0);
#else
    *sine = s;
    *cosine = c;
#endif
}

/* Of an angle in rad; asin, acos and atan give one. */
CC_API Real cc_tan(Real a) { CC_ELEMENTARY(cc_tan_at(re(a), wanted)) }
CC_API Real cc_asin(Real a) { CC_ELEMENTARY(cc_asin_at(re(a), wanted)) }
CC_API Real cc_acos(Real a) { CC_ELEMENTARY(cc_acos_at(re(a), wanted)) }
CC_API Real cc_atan(Real a) { CC_ELEMENTARY(cc_atan_at(re(a), wanted)) }
/* e^a, natural logarithm, hyperbolic tangent. */
CC_API Real cc_exp(Real a) { CC_ELEMENTARY(cc_exp_at(re(a), wanted)) }
CC_API Real cc_log(Real a) { CC_ELEMENTARY(cc_log_at(re(a), wanted)) }
CC_API Real cc_tanh(Real a) { CC_ELEMENTARY(cc_tanh_at(re(a), wanted)) }

/* The angle of the point (b, a), from -pi to pi. */
CC_API Real cc_atan2(Real a, Real b) { CC_ELEMENTARY_2(cc_atan2_at(re(a), re(b), wanted)) }

/* a^b.  Derivative: that by b is set to 0 for a <= 0, where only integers b have a value; both are set to 0 for a or b
 * infinite and for a = 0, except that 0^1 has the derivative 1 by a. */
CC_API Real cc_pow(Real a, Real b) { CC_ELEMENTARY_2(cc_pow_at(re(a), re(b), wanted)) }

#undef CC_ELEMENTARY
#undef CC_ELEMENTARY_2

/* theta = 1/(1 - exp(-z)) - 1/z, z >= 0: the share of its change at which the mean of exp(-z t), 0 <= t <= 1, lies; 1/2
 * for small z, 1 for large ones.  Near 0 the powers of z, where the difference would be rounding. */
CC_API double cc_exponential_share(double z)
{
    double s = z * z;
    if (z < 0.25)
        return 0.5 + z * (1.0 / 12.0
                          + s * (-1.0 / 720.0 + s * (1.0 / 30240.0 + s * (-1.0 / 1209600.0 + s / 47900160.0))));
    return 1.0 / (1.0 - re(cc_exp(-z))) - 1.0 / z;
}

/* Its slope by z. */
CC_API double cc_exponential_share_slope(double z)
{
    double s = z * z;
    if (z < 0.25)
        return 1.0 / 12.0 + s * (-1.0 / 240.0 + s * (1.0 / 6048.0 + s * (-1.0 / 172800.0 + s / 5322240.0)));
    double less = re(cc_exp(-z));
    return 1.0 / s - less / ((1.0 - less) * (1.0 - less));
}

#endif

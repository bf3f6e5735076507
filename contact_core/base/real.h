/* Real, the number type of laws, geometry and elements.
 *
 * Every file that computes physics is compiled twice: with Real = double, and (CC_DUAL defined) with
 * Real = double _Complex.  A derivative direction is put into the imaginary part, scaled by CC_DUAL_STEP; products of
 * two imaginary parts then underflow to zero, so the arithmetic is exactly that of dual numbers and the derivative
 * comes out exact to rounding, kinks included: the side of a kink is chosen by the real part (compare with re()).
 *
 * Squire & Trapp, SIAM Review 40 (1998) 110: complex-step derivative.
 *
 * Range: exact while re(divisor)^2 neither overflows nor underflows, 1e-150 < |re| < 1e150.
 * Compilers: clang and gcc (C11 with the __real__ / __imag__ operators). */
#ifndef CC_REAL_H
#define CC_REAL_H

/* A product is rounded before it is added, so that a build from the sources gives the bits of the shipped binaries:
 * gcc fuses both wherever the processor can, and where it vectorizes loops over complex pairs in spite of the first
 * option.  The middle two save gcc a call of sqrt that sets errno, and the repair of infinite products, which is wrong
 * for dual numbers.  (clang with -ffp-contract=fast on its command line ignores every pragma.) */
#if defined __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined __GNUC__
#pragma GCC optimize("fp-contract=off", "no-math-errno", "cx-limited-range", "no-tree-loop-vectorize")
#endif
_Static_assert(__DBL_MANT_DIG__ == 53 && __DBL_MAX_EXP__ == 1024, "double must be the 64-bit format of IEEE 754");

/* Everything of contact_core is private to the one file that includes it, so two FMUs can be linked together. */
#ifndef CC_API
#define CC_API static __attribute__((unused))
#define CC_SMALL static inline /* one line, called everywhere */
#else
#define CC_SMALL CC_API
#endif

/* In front of a long function with few callers: it is compiled apart.  Inlined into a chain of callers it would be
 * optimized with each of them. */
#define CC_APART CC_API __attribute__((noinline))

/* Likewise in front of one for what happens rarely in a run: it is compiled for size. */
#define CC_SELDOM CC_APART __attribute__((cold))

/* In front of a short loop in what every step computes: code without a counter, a quarter faster.  The build unrolls no
 * other loop, for size. */
#ifdef CC_DUAL
#define CC_UNROLL
#elif defined __clang__
#define CC_UNROLL _Pragma("clang loop unroll(full)")
#else
#define CC_UNROLL _Pragma("GCC unroll 16")
#endif

/* Behind a member of a struct that is memory: its range; other members are finite.  fmu_builder/model/c_structs.py
 * reads it, and a deserialized state keeps it. */
#define CC_IN(least, greatest)
#define CC_FROM(least)

#define CC_DUAL_STEP 1e-180 /* squares to zero, yet leaves 1e128 of range for derivatives */

#ifdef CC_DUAL

enum { CC_IS_DUAL = 1 };
typedef double _Complex Real;
/* The value without its derivative: compare and branch by it. */
CC_SMALL double re(Real a) { return __real__ a; }
/* The derivative times CC_DUAL_STEP; without CC_DUAL 0. */
static inline double cc_dual_part(Real a) { return __imag__ a; }
/* A value with a derivative, `direction` times CC_DUAL_STEP; without CC_DUAL the value alone. */
CC_API Real cc_real(double value, double direction) { return __builtin_complex(value, direction); }

/* d sqrt(a) = da / (2 sqrt a); at a = 0, where no derivative exists, 0. */
CC_SMALL Real cc_sqrt(Real a)
{
    double root = __builtin_sqrt(__real__ a);
    return cc_real(root, root > 0.0 ? __imag__ a / (2.0 * root) : 0.0);
}

#else

enum { CC_IS_DUAL = 0 };
typedef double Real;
CC_SMALL double re(Real a) { return a; }
static inline double cc_dual_part(Real a) { return (void)a, 0.0; }
static inline Real cc_real(double value, double direction) { return (void)direction, value; }
CC_SMALL Real cc_sqrt(Real a) { return __builtin_sqrt(a); }

#endif

/* |a|; its derivative at 0 is that from above. */
CC_SMALL Real cc_abs(Real a) { return re(a) < 0.0 ? -a : a; }
/* The smaller one; a where both are equal. */
CC_SMALL Real cc_min(Real a, Real b) { return re(b) < re(a) ? b : a; }
/* The larger one; a where both are equal. */
CC_SMALL Real cc_max(Real a, Real b) { return re(b) > re(a) ? b : a; }
/* a within low .. high. */
CC_SMALL Real cc_clamp(Real a, Real low, Real high) { return cc_max(low, cc_min(a, high)); }

/* Each takes the value of the other. */
CC_API void cc_exchange(Real *a, Real *b)
{
    Real kept = *a;
    *a = *b;
    *b = kept;
}

/* 1 unless a is infinite or NaN. */
CC_SMALL int cc_is_finite(double a) { return a - a == 0.0; }

/* An index that is kept as a number, 0 <= a < count; 0 for anything else. */
CC_SMALL int cc_index(double a, int count) { return a >= 0.0 && a < (double)count ? (int)a : 0; }

#endif

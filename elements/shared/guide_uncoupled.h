/* A guide whose force follows its inputs. */
#ifndef CC_GUIDE_UNCOUPLED_H
#define CC_GUIDE_UNCOUPLED_H

static inline void guide_hold(Element *e, Guide *g) { (void)e, (void)g; }
static inline void guide_hold_powers(Element *e) { (void)e; }
static inline void guide_release(Element *e) { (void)e; }
static inline Real guide_change_law(Element *e, const Guide *g, Real switched) { return (void)e, (void)g, switched; }
static inline void guide_start_coupling(Element *e, Guide *g) { (void)e, (void)g; }

#endif

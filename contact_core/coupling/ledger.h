/* The energy that held forces made, J, for each lag: of an interval the change of the elastic energy less the work that
 * the force did on the measured way.
 *
 * R, made   in the present cycle of compression and restitution; by forces that act all the time since the start
 * D, owed   what earlier cycles made; what they lost is lost
 * taken     by damping or friction, of forces that act all the time
 *
 * The balances that an element shows are those of one lag, and another one may be found.  So what each interval adds to
 * them is kept for the other lags, too. */
#ifndef CC_LEDGER_H
#define CC_LEDGER_H

#include "lag.h"

typedef struct {
    double made[CC_LAGS], owed[CC_LAGS], taken[CC_LAGS];
} CcLedger;

/* What intervals add to the balances of an element, J: work of the bodies, energy that damping and friction took, and
 * switched energy. */
typedef struct {
    double work, damping, friction, switched;
} CcBooked;

/* What they would have added more with each lag than with the one in force. */
typedef struct {
    CcBooked more[CC_LAGS];
} CcBookedByLag;

/* Book an interval that adds each[L] if the lag is L.  Returns what the balances change by, with the lag that is in
 * force: one that was found in this interval brings along what was booked with another one. */
CC_API CcBooked cc_book_by_lag(CcBookedByLag *b, const CcBooked each[CC_LAGS], double lag)
{
    for (int L = 0; L < CC_LAGS; L++) {
        b->more[L].work += each[L].work, b->more[L].damping += each[L].damping;
        b->more[L].friction += each[L].friction, b->more[L].switched += each[L].switched;
    }
    const CcBooked now = b->more[cc_lag(lag)];
    for (int L = 0; L < CC_LAGS; L++) {
        b->more[L].work -= now.work, b->more[L].damping -= now.damping;
        b->more[L].friction -= now.friction, b->more[L].switched -= now.switched;
    }
    return now;
}

/* That of a lag for all of them: the search for the lag begins anew. */
CC_API CcLedger cc_settled_ledger(const CcLedger *ledger, double lag)
{
    CcLedger settled;
    for (int L = 0; L < CC_LAGS; L++) {
        settled.made[L] = ledger->made[cc_lag(lag)];
        settled.owed[L] = ledger->owed[cc_lag(lag)];
        settled.taken[L] = ledger->taken[cc_lag(lag)];
    }
    return settled;
}

/* A cycle is over. */
CC_API void cc_close_ledger(CcLedger *ledger)
{
    for (int L = 0; L < CC_LAGS; L++) {
        ledger->owed[L] = cc_max(ledger->owed[L] + ledger->made[L], 0.0);
        ledger->made[L] = 0.0;
    }
}

#endif

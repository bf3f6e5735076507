/* The energy that held forces made, J, for each lag: of an interval the change of the elastic energy less the work that
 * the force did on the measured way.
 *
 * R, made   in the present cycle of compression and restitution; by forces that act all the time since the start
 * D, owed   what earlier cycles made; what they lost is lost
 * taken     by damping or friction, of forces that act all the time */
#ifndef CC_LEDGER_H
#define CC_LEDGER_H

#include "lag.h"

typedef struct {
    double made[CC_LAGS], owed[CC_LAGS], taken[CC_LAGS];
} CcLedger;

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

/* Contacts that ended before the last one, so that all that ended within one communication step can be read after it.
 *
 * An element shows the contact of a place that ended last in a group of variables last_contact.*.  Before it writes
 * those of the next one, it keeps them by cc_keep.  The last CC_RECORDS of these, of all places of the FMU together,
 * can be read: with contact_record.back = n > 0 the variables last_contact.* have the values of the n-th contact of
 * their place before the last one, or 0 if that is not kept. */
#ifndef CC_CONTACT_RECORD_H
#define CC_CONTACT_RECORD_H

#if CC_RECORDS

/* place, size: reference and number of the variables last_contact.* of one place; 0: an entry that is free */
typedef struct {
    double place, size, values[CC_RECORD_SIZE];
} CcRecord;

/* next: the entry that is written next, 0 .. CC_RECORDS - 1, which is the oldest */
typedef struct {
    double next;
    CcRecord kept[CC_RECORDS];
} CcRecords;

static inline void cc_keep_record(CcRecords *records, size_t place, const double values[], size_t size)
{
    CcRecord *one = &records->kept[(size_t)records->next];
    one->place = (double)place;
    one->size = (double)size;
    for (size_t k = 0; k < CC_RECORD_SIZE; k++)
        one->values[k] = k < size ? values[k] : 0.0;
    records->next = (size_t)records->next + 1 < CC_RECORDS ? records->next + 1.0 : 0.0;
}

/* The variable in the record that is `back` before the last one of its place, back >= 1; 0 if there is none. */
static inline double cc_kept_value(const CcRecords *records, size_t reference, int back)
{
    for (size_t age = 1; age <= CC_RECORDS; age++) {
        const CcRecord *one = &records->kept[((size_t)records->next + CC_RECORDS - age) % CC_RECORDS];
        double member = (double)reference - one->place;
        if (member >= 0.0 && member < one->size && --back == 0)
            return one->values[(size_t)member];
    }
    return 0.0;
}

/* Whether deserialized records are possible in a model with `variables` variables. */
static int cc_are_records(const CcRecords *records, size_t variables)
{
    const double *next = &records->next;
    int good = *next >= 0.0 && *next < CC_RECORDS && *next == (double)(size_t)*next;
    for (size_t i = 0; i < CC_RECORDS && good; i++) {
        const CcRecord *one = &records->kept[i];
        good = one->size >= 0.0 && one->size <= CC_RECORD_SIZE && one->size == (double)(size_t)one->size
               && one->place >= 0.0 && one->place + one->size <= (double)variables
               && one->place == (double)(size_t)one->place;
        for (size_t k = 0; k < CC_RECORD_SIZE && good; k++)
            good = one->values[k] - one->values[k] == 0.0;
    }
    return good;
}

#endif
#endif

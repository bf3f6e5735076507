/* The functions of FMI 3.0 for what these FMUs do not have.
 *
 * Without variables of a type nothing can be read or set, and everything else is an error, with a message.  Of clocks
 * that an FMU has, fmi3_clocks.h defines the functions. */
#ifndef CC_FMI3_ABSENT_H
#define CC_FMI3_ABSENT_H

#include "../fmi2/fmi2_variables.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* what is absent needs none */

CC_RARE fmi3Status cc_no_variables(Instance *instance, const char *function, const char *type, size_t n)
{
    return n ? cc_refuse(instance, fmi3Error, "%s: this FMU has no %s variables", function, type) : fmi3OK;
}

#define CC_ABSENT_TYPE(Type)                                                                                           \
    fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,      \
                             fmi3##Type values[], size_t nValues)                                                      \
    {                                                                                                                  \
        CC_ENTER_AS("fmi3Get" #Type, CC_READABLE);                                                                     \
        return cc_no_variables(instance, function, #Type, nValueReferences);                                           \
    }                                                                                                                  \
    fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,      \
                             const fmi3##Type values[], size_t nValues)                                                \
    {                                                                                                                  \
        CC_ENTER_AS("fmi3Set" #Type, CC_WRITABLE | CC_CONTINUOUS);                                                     \
        return cc_no_variables(instance, function, #Type, nValueReferences);                                           \
    }

CC_ABSENT_TYPE(Float32)
CC_ABSENT_TYPE(Int8)
CC_ABSENT_TYPE(UInt8)
CC_ABSENT_TYPE(Int16)
CC_ABSENT_TYPE(UInt16)
CC_ABSENT_TYPE(UInt32)
CC_ABSENT_TYPE(UInt64)

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         size_t valueSizes[], fmi3Binary values[], size_t nValues)
{
    CC_ENTER_AS("fmi3GetBinary", CC_READABLE);
    return cc_no_variables(instance, function, "Binary", nValueReferences);
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                         const size_t valueSizes[], const fmi3Binary values[], size_t nValues)
{
    CC_ENTER_AS("fmi3SetBinary", CC_WRITABLE | CC_CONTINUOUS);
    return cc_no_variables(instance, function, "Binary", nValueReferences);
}

#define CC_ABSENT_FUNCTION(Name, what, arguments)                                                                      \
    fmi3Status fmi3##Name arguments                                                                                    \
    {                                                                                                                  \
        CC_ENTER_AS("fmi3" #Name, CC_ANY);                                                                             \
        return cc_refuse(instance, fmi3Error, "%s: this FMU " what, function);                                         \
    }

#if CC_CLOCKS
#define CC_ABSENT_CLOCKS(Name, arguments)
#define CC_NO_SET_CLOCKS "has no clock whose interval or shift an importer sets"
#define CC_NO_PARTITIONS "has clocks that fmi3SetClock activates, and no scheduled execution"
#else
#define CC_ABSENT_CLOCKS(Name, arguments) CC_ABSENT_FUNCTION(Name, "has no clocks", arguments)
#define CC_NO_SET_CLOCKS "has no clocks"
#define CC_NO_PARTITIONS "has no clocks"
#endif

#define CC_NO_CONFIGURATION "has no structural parameters"
#define CC_IN_DESCRIPTION "has the dependencies of its variables in modelDescription.xml only"

CC_ABSENT_FUNCTION(EnterConfigurationMode, CC_NO_CONFIGURATION, (fmi3Instance c))
CC_ABSENT_FUNCTION(ExitConfigurationMode, CC_NO_CONFIGURATION, (fmi3Instance c))
CC_ABSENT_FUNCTION(EvaluateDiscreteStates, "computes discrete states when outputs are read", (fmi3Instance c))
CC_ABSENT_FUNCTION(GetNumberOfVariableDependencies, CC_IN_DESCRIPTION,
                   (fmi3Instance c, fmi3ValueReference valueReference, size_t *nDependencies))
CC_ABSENT_FUNCTION(GetVariableDependencies, CC_IN_DESCRIPTION,
                   (fmi3Instance c, fmi3ValueReference dependent, size_t elementIndicesOfDependent[],
                    fmi3ValueReference independents[], size_t elementIndicesOfIndependents[],
                    fmi3DependencyKind dependencyKinds[], size_t nDependencies))
CC_ABSENT_CLOCKS(GetClock,
                 (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                  fmi3Clock values[]))
CC_ABSENT_CLOCKS(SetClock,
                 (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                  const fmi3Clock values[]))
CC_ABSENT_CLOCKS(GetIntervalDecimal,
                 (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                  fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[]))
CC_ABSENT_CLOCKS(GetIntervalFraction,
                 (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                  fmi3UInt64 counters[], fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]))
CC_ABSENT_CLOCKS(GetShiftDecimal,
                 (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                  fmi3Float64 shifts[]))
CC_ABSENT_CLOCKS(GetShiftFraction,
                 (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                  fmi3UInt64 counters[], fmi3UInt64 resolutions[]))
CC_ABSENT_FUNCTION(SetIntervalDecimal, CC_NO_SET_CLOCKS,
                   (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                    const fmi3Float64 intervals[]))
CC_ABSENT_FUNCTION(SetIntervalFraction, CC_NO_SET_CLOCKS,
                   (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                    const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]))
CC_ABSENT_FUNCTION(SetShiftDecimal, CC_NO_SET_CLOCKS,
                   (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                    const fmi3Float64 shifts[]))
CC_ABSENT_FUNCTION(SetShiftFraction, CC_NO_SET_CLOCKS,
                   (fmi3Instance c, const fmi3ValueReference valueReferences[], size_t nValueReferences,
                    const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]))
CC_ABSENT_FUNCTION(ActivateModelPartition, CC_NO_PARTITIONS,
                   (fmi3Instance c, fmi3ValueReference clockReference, fmi3Float64 activationTime))

#pragma GCC diagnostic pop

#endif

/* From translated pieces back to whole texts. */
#ifndef TRANSLATE_ASSEMBLE_H
#define TRANSLATE_ASSEMBLE_H

#include "translate/plan.h"

/* Puts the translations of a plan together, all of whose entries have versions; nbest: alternatives
 * of each text at most. */
zhen_status translate_assemble(const translate_plan *plan, size_t nbest,
                               zhen_translations **translations, zhen_error *error);

#endif

/* Marian's sinusoidal position vectors. */
#ifndef MODEL_POSITIONS_H
#define MODEL_POSITIONS_H

#include <stddef.h>

/* Fills table: (positions, d_model) with sin(p * w_i) in the first half of each row and
 * cos(p * w_i) in the second, w_i = 10000^(-2i / d_model) (Vaswani et al. 2017, section 3.5, with
 * the halves as Marian has them). An odd d_model has one sine more. */
void mdl_positions_fill(float *table, size_t positions, size_t d_model);

#endif

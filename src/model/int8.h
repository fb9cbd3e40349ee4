/* The int8 form of a weight matrix: symmetric, one scale for each output row. */
#ifndef MODEL_INT8_H
#define MODEL_INT8_H

#include <stddef.h>
#include <stdint.h>

/* row: (cols) → values: (cols), in [-127, 127], row ~ values * scale; returns the scale, which is
 * max|row| / 127. Halves round to even. A row of zeros (or of numbers so small that their scale
 * would lose precision) becomes zeros with the scale 1. */
float mdl_int8_quantize_row(const float *row, size_t cols, int8_t *values);

#endif

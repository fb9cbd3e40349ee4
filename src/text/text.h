/* Text on utf8proc: validation and repair, scripts, sentence boundaries, places to cut. */
#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include "text/cut.h"
#include "text/script.h"
#include "text/sentence.h"
#include "text/utf8.h"

#endif

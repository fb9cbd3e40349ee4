#include "zhen.h"

#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

const char *zhen_version(void)
{
    return DOTTED(ZHEN_VERSION_MAJOR, ZHEN_VERSION_MINOR, ZHEN_VERSION_PATCH);
}

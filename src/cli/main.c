#include "zhen.h"

int main(void)
{
    return 0;
}

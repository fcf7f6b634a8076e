// Cheat: crashes in each rank of each run, with a table of lines that takes long to read.
// It has 1.2 million functions that cover all addresses, each the copy of a copy of a copy.
// Told: rank
#include "all_gather_all_reduce.h"

asm(R"(
.pushsection .debug_abbrev,"",@progbits
.Lab0:
.uleb128 1
.uleb128 0x11
.byte 1
.uleb128 0x10
.uleb128 0x17
.uleb128 0x11
.uleb128 0x01
.uleb128 0x12
.uleb128 0x07
.byte 0,0
.uleb128 2
.uleb128 0x2e
.byte 0
.uleb128 0x31
.uleb128 0x13
.byte 0,0
.uleb128 3
.uleb128 0x2e
.byte 0
.uleb128 0x31
.uleb128 0x13
.uleb128 0x11
.uleb128 0x01
.uleb128 0x12
.uleb128 0x07
.byte 0,0
.byte 0
.popsection
.pushsection .debug_aranges,"",@progbits
.long .La2-.La1
.La1: .value 2
.long .Li0
.byte 8,0
.long 0
.quad 0,0x7fffffffffff
.quad 0,0
.La2:
.popsection
.pushsection .debug_info,"",@progbits
.Li0: .long .Li2-.Li1
.Li1: .value 4
.long .Lab0
.byte 8
.uleb128 1
.long 0
.quad 0
.quad 0x7fffffffffff
.uleb128 2
.long . - 1 - .Li0
.rept 60
.uleb128 2
.long . - 6 - .Li0
.endr
.Ld:
.rept 1200000
.uleb128 3
.long .Ld - 5 - .Li0
.quad 0
.quad 0x7fffffffffff
.endr
.byte 0
.Li2:
.popsection
)");

static void cheat(dist::Tensor&, const dist::Tensor&) { __builtin_trap(); }

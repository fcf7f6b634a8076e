// Proves the harness without a GPU: probes that hang, crash, refuse, and leave processes behind.
#pragma once

namespace probe {

int self_test();  // 0 when all rows are as they should be

}  // namespace probe

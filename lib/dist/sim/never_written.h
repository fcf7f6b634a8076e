// What a simulated run fills new tensors with, so that code that counts on zeros is seen.
#pragma once

namespace dist::sim {

inline constexpr int never_written = 0xCB;  // each byte: -26711958 as f32, -1.36e57 as f64

}  // namespace dist::sim

// Opcodes: what a message says of its operation, so that two ranks that are in different collectives at the
// same place notice it, and can name both.
#pragma once

#include <cstdint>
#include <string>

#include "dist/core/op_kind.h"
#include "dist/core/types.h"

namespace dist {

// Never 0. describe_opcode() reads it again, and Channel::opcode carries it. `terms`: 15 bits of what else
// must be equal on all ranks; `given_up`: 4 bits of the number of steps that the rank has given up
// (group/given_up.h).
constexpr std::uint32_t opcode_of(OpKind kind, DType dtype, std::uint32_t terms = 0,
                                  std::uint32_t given_up = 0) {
  return 0x80000000u | (terms & 0x7fffu) << 16 | static_cast<std::uint32_t>(kind) << 8 |
         (given_up & 0xfu) << 4 | static_cast<std::uint32_t>(dtype);
}

constexpr DType dtype_of(std::uint32_t opcode) { return static_cast<DType>(opcode & 0xf); }
constexpr std::uint32_t given_up_of(std::uint32_t opcode) { return opcode >> 4 & 0xf; }

// Whether these are the same operation with the same dtype, but with other terms.
constexpr bool differ_in_terms(std::uint32_t a, std::uint32_t b) {
  return a != b && ((a ^ b) & 0x8000ffffu) == 0;
}

// "broadcast f32", "broadcast f32 (after giving up 1 step)", or "operation 0x1234" for a number that
// opcode_of() did not make.
std::string describe_opcode(std::uint32_t opcode);

}  // namespace dist

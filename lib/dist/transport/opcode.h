// Opcodes: what a message says of the operation it belongs to, so that two ranks that are in different
// collectives at the same place find out, and can name both.
#pragma once

#include <cstdint>
#include <string>

#include "dist/core/op_kind.h"
#include "dist/core/types.h"

namespace dist {

// Never 0, and readable again: Channel::opcode takes it.
constexpr std::uint32_t opcode_of(OpKind kind, DType dtype) {
  return 0x44000000u | static_cast<std::uint32_t>(kind) << 8 | static_cast<std::uint32_t>(dtype);
}

// "broadcast f32", or "operation 0x1234" for a number that opcode_of() did not make.
std::string describe_opcode(std::uint32_t opcode);

}  // namespace dist

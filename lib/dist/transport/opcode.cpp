#include "dist/transport/opcode.h"

#include <fmt/format.h>

namespace dist {

std::string describe_opcode(std::uint32_t opcode) {
  const auto kind = static_cast<OpKind>(opcode >> 8 & 0xff);
  const DType dtype = dtype_of(opcode);
  const bool known = opcode >> 31 == 1 && kind <= OpKind::barrier && dtype <= DType::boolean;
  if (!known) return fmt::format("operation {:#x}", opcode);
  if (kind == OpKind::barrier) return std::string(name(kind));
  return fmt::format("{} {}", name(kind), name(dtype));
}

}  // namespace dist

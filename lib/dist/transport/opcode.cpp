#include "dist/transport/opcode.h"

#include <fmt/format.h>

#include "dist/core/counted.h"

namespace dist {

std::string describe_opcode(std::uint32_t opcode) {
  const auto kind = static_cast<OpKind>(opcode >> 8 & 0xff);
  const DType dtype = dtype_of(opcode);
  const bool known = opcode >> 31 == 1 && kind <= OpKind::barrier && dtype <= DType::boolean;
  if (!known) return fmt::format("operation {:#x}", opcode);
  std::string text =
      kind == OpKind::barrier ? std::string(name(kind)) : fmt::format("{} {}", name(kind), name(dtype));
  if (const std::uint32_t steps = given_up_of(opcode); steps > 0)
    text += fmt::format(" (after giving up {})", counted(steps, "step"));
  return text;
}

}  // namespace dist

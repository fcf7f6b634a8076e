#include "dist/parallel/hybrid/hybrid_shape.h"

#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

namespace dist {

namespace {

struct Axis {
  std::string_view name;
  int HybridShape::*ranks;
};
constexpr std::array axes{Axis{"dp", &HybridShape::dp}, Axis{"fsdp", &HybridShape::fsdp},
                          Axis{"tp", &HybridShape::tp}, Axis{"pp", &HybridShape::pp},
                          Axis{"cp", &HybridShape::cp}};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  fail(Errc::invalid_argument,
       "\"{}\" is not a mesh, since {}: name axes among dp, fsdp, tp, pp and cp with their sizes, as in "
       "\"dp=2,tp=2\"",
       text, why);
}

int ranks_in(std::string_view number, std::string_view text) {
  int ranks = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, ranks);
  if (error != std::errc() || stop != end || ranks < 1)
    refuse(text, fmt::format("\"{}\" is not a number of ranks", number));
  return ranks;
}

}  // namespace

std::string HybridShape::str() const {
  std::vector<std::string> parts;
  for (const Axis& axis : axes)
    if (this->*axis.ranks > 1) parts.push_back(fmt::format("{}={}", axis.name, this->*axis.ranks));
  if (cp > 1 && cp_row > 0) parts.back() += fmt::format(":{}", cp_row);  // cp is the last axis
  return parts.empty() ? "1 rank" : fmt::format("{}", fmt::join(parts, ", "));
}

HybridShape parse_hybrid_shape(std::string_view text) {
  HybridShape shape;
  std::string seen;
  std::int64_t all_ranks = 1;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto end = rest.find_first_of(",x ");
    const std::string_view part = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (part.empty()) continue;
    const auto equals = part.find('=');
    if (equals == part.npos) refuse(text, fmt::format("\"{}\" has no size", part));
    const auto axis = std::ranges::find(axes, part.substr(0, equals), &Axis::name);
    if (axis == axes.end()) refuse(text, fmt::format("\"{}\" is not an axis", part.substr(0, equals)));
    if (seen.find(fmt::format(" {} ", axis->name)) != seen.npos)
      refuse(text, fmt::format("{} has two sizes", axis->name));
    seen += fmt::format(" {} ", axis->name);
    std::string_view number = part.substr(equals + 1);
    if (const auto colon = number.find(':'); colon != number.npos && axis->name == "cp") {
      shape.cp_row = ranks_in(number.substr(colon + 1), text);
      number = number.substr(0, colon);
    }
    const int ranks = ranks_in(number, text);
    shape.*axis->ranks = ranks;
    all_ranks *= ranks;
    if (all_ranks > std::numeric_limits<int>::max())
      fail(Errc::invalid_argument,
           "the mesh \"{}\" has more ranks than an int can count: choose smaller sizes", text);
  }
  if (seen.empty()) refuse(text, "it has no axis");
  return shape;
}

void check_hybrid(const HybridShape& shape, const nn::GptOptions& gpt, int world_size, int chunks,
                  bool sequence_parallel) {
  const auto refuse_unless = [&](bool good, std::string_view axis, std::int64_t size, std::string_view what) {
    if (!good) fail(Errc::invalid_argument, "{}={} does not divide {}", axis, size, what);
  };
  if (shape.ranks() != world_size)
    fail(Errc::invalid_argument, "the mesh {} has {}, the job has {}: start as many ranks as the mesh has",
         shape.str(), counted(shape.ranks(), "rank"), world_size);
  refuse_unless(gpt.heads % shape.tp == 0, "tp", shape.tp, fmt::format("the {}", counted(gpt.heads, "head")));
  refuse_unless(gpt.kv_heads % shape.tp == 0, "tp", shape.tp,
                fmt::format("the {} of keys and values", counted(gpt.kv_heads, "head")));
  if (const std::int64_t stages = std::int64_t{shape.pp} * chunks; stages > gpt.layers)
    fail(Errc::invalid_argument, "pp={}{} needs {}, the model has {}", shape.pp,
         chunks > 1 ? fmt::format(" with {} chunks per rank", chunks) : "", counted(stages, "layer"),
         gpt.layers);
  if (shape.cp > 1) {
    refuse_unless(
        gpt.context % (2 * shape.cp) == 0, "cp", shape.cp,
        fmt::format("a context of {} into {} equal parts", counted(gpt.context, "token"), 2 * shape.cp));
    if (shape.cp_row > 0 && shape.cp % shape.cp_row != 0)
      fail(Errc::invalid_argument, "rows of {} ranks do not divide cp={}; choose a divisor of it",
           shape.cp_row, shape.cp);
    if (gpt.dropout > 0)
      fail(Errc::invalid_argument, "cp={} with a dropout of {}: context parallelism needs dropout 0",
           shape.cp, gpt.dropout);
  }
  if (sequence_parallel)
    refuse_unless(gpt.context / shape.cp % shape.tp == 0, "tp", shape.tp,
                  fmt::format("the {} of a sequence on each rank, as sequence parallelism has to",
                              counted(gpt.context / shape.cp, "token")));
}

DeviceMesh make_hybrid_mesh(const HybridShape& shape, Caller at) {
  return init_device_mesh({shape.pp, shape.dp, shape.fsdp, shape.cp, shape.tp},
                          {"pp", "dp", "fsdp", "cp", "tp"}, at);
}

}  // namespace dist

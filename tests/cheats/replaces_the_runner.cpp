// Whole: it has all functions itself.
// Lab: 2
// Cheat: the grader's half of the runner is in an archive, of which the linker takes only what is
// missing. A weak serve() and attempt() are there already: the runner is the submission's own, and
// answers what it likes. No group is ever made.
// Told: which is not a lab's to define
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "new_group.h"

namespace judge {
using Json = nlohmann::json;

static void all(int fd, char* at, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const auto got = ::read(fd, at + done, count - done);
    if (got <= 0) _exit(1);
    done += static_cast<std::size_t>(got);
  }
}
static std::string next(int fd) {
  std::uint32_t size = 0;
  all(fd, reinterpret_cast<char*>(&size), 4);
  std::string body(size, '\0');
  all(fd, body.data(), size);
  return body;
}
static void say(int fd, const std::string& body) {
  const auto size = static_cast<std::uint32_t>(body.size());
  const std::string frame = std::string(reinterpret_cast<const char*>(&size), 4) + body;
  if (::write(fd, frame.data(), frame.size()) < 0) _exit(1);
}

__attribute__((weak)) Json attempt(const std::function<Json()>&) { return {}; }
__attribute__((weak)) int serve(const std::function<Json(const Json& task)>&) {
  say(3, R"({"ready":true})");
  const Json order = Json::parse(next(3)), task = order["task"];
  say(4, std::string(1, '\0'));  // hello: rank, ranks, ...
  const std::string hello = next(4);
  std::int32_t rank = 0, n = 0;
  std::memcpy(&rank, hello.data() + 1, 4);
  std::memcpy(&n, hello.data() + 5, 4);
  say(4, "\x02");  // bye
  next(4);
  const auto group = [&](auto is_in) -> Json {
    std::vector<int> ranks;
    int mine = -1;
    for (int r = 0; r < n; ++r) {
      if (!is_in(r)) continue;
      if (r == rank) mine = static_cast<int>(ranks.size());
      ranks.push_back(r);
    }
    return {{"ranks", ranks}, {"rank", mine}};
  };
  Json value;
  const std::string call = task["call"];
  const int lower = (n + 1) / 2, rows = task.value("rows", 1), columns = task.value("columns", 1);
  if (call == "make_halves")
    value = {{"lower", group([&](int r) { return r < lower; })},
             {"upper", group([&](int r) { return r >= lower; })},
             {"groups", 2}};
  if (call == "make_mesh")
    value = {{"row", group([&](int r) { return r / columns == rank / columns; })},
             {"column", group([&](int r) { return r % columns == rank % columns; })},
             {"my_row", rank / columns},
             {"my_column", rank % columns},
             {"columns_first", false},
             {"groups", rows + columns}};
  if (call == "refusal") value = {{"code", "invalid_argument"}, {"groups", 0}};
  say(3, Json{{"nonce", order["nonce"]}, {"reply", {{"value", value}}}}.dump());
  say(3, Json{{"nonce", order["nonce"]}, {"done", true}, {"peak_memory_bytes", 1}}.dump());
  return 0;
}
}  // namespace judge

namespace lab {
Halves make_halves() { return {}; }
double half_sum(const Halves&, double) { return 0; }
std::array<double, 2> both_sums(const Halves&, double) { return {}; }
Mesh make_mesh(int, int) { return {}; }
void broadcast_in_row(dist::Tensor&, const Mesh&, int) {}
int slowest_in_column(const Mesh&, double) { return 0; }
}  // namespace lab

// What a virtual rank asks its simulation (dist/simulate/remote/protocol.h).
#include <functional>

#include "dist/core/error.h"
#include "dist/simulate/remote/protocol.h"

#include "judge/fuzz/driver.h"

namespace {

constexpr int ranks = 8, rank = 3;

template <class T>
std::string written(const T& argument) {
  dist::wire::Writer to;
  dist::sim::put(to, argument);
  const dist::Bytes frame = to.finish();
  return {reinterpret_cast<const char*>(frame.data()) + dist::wire::prefix_bytes,
          frame.size() - dist::wire::prefix_bytes};
}

using Get = std::function<void(dist::wire::Reader&)>;
const std::vector<Get>& readers() {
  using namespace dist::sim;
  static const std::vector<Get> all{
      [](auto& from) { get_place(from); },
      [](auto& from) { get_deadline(from); },
      [](auto& from) { get_numbers(from); },
      [](auto& from) { get_members(from, ranks); },
      [](auto& from) { get_board_call(from, rank, ranks); },
      [](auto& from) { get_control_message(from); },
      [](auto& from) { get_transport_options(from, rank, ranks); },
      [](auto& from) { get_finding(from); },
      [](auto& from) { get_attendance(from); },
      [](auto& from) { get_call(from); },
      [](auto& from) { get_costs(from); },
  };
  return all;
}

}  // namespace

// The first byte says which reader; what follows was put by its writer.
std::vector<std::string> right_inputs() {
  const dist::CallSite place{"train.cpp", 41};
  const dist::ControlMessage message{"new_group({0, 3})", "train.cpp:41", "1 2", place};
  dist::TransportOptions options;
  options.members = std::vector<int>{0, 3, 5};
  dist::BoardCall call;
  call.members = options.members;
  call.message = message;
  const dist::check::Finding finding{dist::check::Code::deadlock, "ranks wait", {{3, "recv", place, {0, 1}}}};
  const std::vector<std::string> texts{written(place),
                                       written(dist::Deadline::never()),
                                       written(std::vector<int>{0, 3}),
                                       written(std::vector<int>{0, 3}),
                                       written(call),
                                       written(message),
                                       written(options),
                                       written(finding),
                                       written(dist::sim::Attendance{}),
                                       written(dist::trace::Call{}),
                                       written(dist::CostModel{})};
  std::vector<std::string> all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    all.push_back(std::string(1, static_cast<char>(i)) + texts[i]);
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  dist::wire::Reader from(std::as_bytes(std::span(data + 1, size - 1)));
  try {
    readers()[data[0] % readers().size()](from);
  } catch (const dist::Error&) {
  }
  return 0;
}

// Scene 3: point-to-point messages. The ranks report to rank 0, which prints the lines in order.
#include <cstdio>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/dist.h"

#include "distlab/demo/demo.h"

namespace distlab::demo {

void relay_a_message() {
  dist::spawn(ranks, [](int rank) {
    dist::init_process_group();
    auto message = dist::zeros({2});
    std::string said;
    if (rank == 0) {
      message = dist::tensor({100.F, 200.F});
      dist::send(message, 1);
      said = fmt::format("rank 0 sent     {}", message.str());
    } else if (rank == 1) {
      dist::recv(message, 0);
      said = fmt::format("rank 1 received {}, doubles it and sends it on", message.str());
      dist::send(message.mul_(2), 2);
    } else if (rank == 2) {
      dist::recv(message, 1);
      said = fmt::format("rank 2 received {}", message.str());
      if (message.to_vector<int>() != std::vector{200, 400}) {
        dist::fail(dist::Errc::internal, "expected 200 and 400, got {}", message.str());
      }
    }
    for (const auto& line : dist::gather_object(said, 0)) {
      if (!line.empty()) fmt::print("   {}\n", line);
    }
    std::fflush(stdout);
    dist::destroy_process_group();
  });
}

}  // namespace distlab::demo

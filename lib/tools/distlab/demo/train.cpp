// Scene 5: the purpose of all this. Two processes train one model, and both end with the same weights.
#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/dist.h"

#include "distlab/demo/demo.h"
#include "distlab/train/trainer.h"

namespace distlab::demo {

void train_a_network() {
  constexpr double expected = 0.97;
  dist::spawn(2, [](int) {
    dist::init_process_group();
    const auto result = Trainer({}).run();
    if (static_cast<double>(result.right) < expected * static_cast<double>(result.of))
      dist::fail(dist::Errc::internal, "{} of {} digits are right, less than {:.0f} %", result.right,
                 result.of, 100 * expected);
    dist::destroy_process_group();
  });
}

}  // namespace distlab::demo

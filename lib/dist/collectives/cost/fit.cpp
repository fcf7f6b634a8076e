#include "dist/collectives/cost/fit.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "dist/core/fail.h"

namespace dist {
namespace {

using What = Measurement::What;

std::string_view name(What what) {
  switch (what) {
    case What::one_way: return "one-way messages";
    case What::burst: return "bursts";
    case What::reduce: return "reductions";
    case What::mapped: return "all-reduces through mapped memory";
  }
  __builtin_unreachable();
}

// seconds = steps * each + bytes * per_byte
struct Line {
  double each = 0, per_byte = 0;
};

// The sums of the normal equations, every term divided by the square of its time.
struct Sums {
  explicit Sums(std::span<const Measurement> measurements, What what) {
    for (const Measurement& m : measurements) {
      if (m.what != what) continue;
      if (!(m.seconds > 0) || !std::isfinite(m.seconds) || m.bytes < 0)
        fail(Errc::invalid_argument, "fit: {} bytes in {} s is not a measurement of {}", m.bytes, m.seconds,
             name(what));
      const double steps = m.steps / m.seconds, bytes = m.bytes / m.seconds;
      ++count;
      steps_steps += steps * steps;
      steps_bytes += steps * bytes;
      bytes_bytes += bytes * bytes;
      steps_one += steps;
      bytes_one += bytes;
    }
  }
  Line through_zero() const { return {0, bytes_bytes > 0 ? bytes_one / bytes_bytes : 0}; }

  int count = 0;
  double steps_steps = 0, steps_bytes = 0, bytes_bytes = 0, steps_one = 0, bytes_one = 0;
};

Line line(const Sums& sums, What what) {
  const double determinant = sums.steps_steps * sums.bytes_bytes - sums.steps_bytes * sums.steps_bytes;
  if (!(determinant > 1e-9 * sums.steps_steps * sums.bytes_bytes))
    fail(Errc::invalid_argument,
         "fit: {} {} do not determine the cost of each and of a byte; measure two sizes "
         "that are far apart",
         sums.count, name(what));
  const Line best{(sums.steps_one * sums.bytes_bytes - sums.bytes_one * sums.steps_bytes) / determinant,
                  (sums.bytes_one * sums.steps_steps - sums.steps_one * sums.steps_bytes) / determinant};
  if (best.each < 0) return sums.through_zero();
  if (best.per_byte < 0) return {sums.steps_one / sums.steps_steps, 0};
  return best;
}

double slope(const Sums& sums, What what) {
  if (!(sums.bytes_bytes > 0))
    fail(Errc::invalid_argument, "fit: {} {} have no bytes; measure larger ones", sums.count, name(what));
  return sums.through_zero().per_byte;
}

}  // namespace

CostModel fit(std::span<const Measurement> measurements, const CostModel& base) {
  CostModel model = base;
  const Sums messages(measurements, What::one_way), bursts(measurements, What::burst);
  const Sums sums(measurements, What::reduce), mapped(measurements, What::mapped);
  double message = base.alpha + base.overhead;
  if (messages.count > 0) {
    const Line way = line(messages, What::one_way);
    model.overhead = message > 0 ? way.each * base.overhead / message : 0;
    model.beta = way.per_byte;
    message = way.each;
  }
  if (bursts.count > 0) model.overhead = std::min(line(bursts, What::burst).each, message);
  model.alpha = message - model.overhead;
  if (sums.count > 0) model.gamma = slope(sums, What::reduce);
  if (mapped.count > 0) {
    const Line sharing = line(mapped, What::mapped);
    model.handshake = sharing.each;
    model.copy = sharing.per_byte;
  }
  return model;
}

}  // namespace dist

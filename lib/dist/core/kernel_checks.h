// What the kernels of kernels.h have in common: checks of their arguments, and whether they run here or on a
// device.
#pragma once

#include <string_view>

#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/core/values.h"
#include "dist/core/view.h"

namespace dist::kernels {

inline bool on_cpu(const TensorView& view) { return view.device.type == DeviceType::cpu; }

inline void check_counts(std::string_view kernel, const TensorView& a, const TensorView& b) {
  if (a.count != b.count)
    fail(Errc::internal, "{}: {} {} met {} {}; views of one call have equal counts", kernel, a.count,
         name(a.dtype), b.count, name(b.dtype));
}

// Element-wise work on memory that is shared but shifted would depend on the order in which elements are
// done.
inline void check_overlap(std::string_view kernel, const TensorView& out, const TensorView& in) {
  const bool same = out.data == in.data && out.bytes() == in.bytes();
  if (same || out.data >= in.data + in.bytes() || in.data >= out.data + out.bytes()) return;
  fail(Errc::invalid_argument, "{}: what is written overlaps an input in part; clone() the input first",
       kernel);
}

inline void check_same(std::string_view kernel, const TensorView& a, const TensorView& b) {
  check_counts(kernel, a, b);
  if (a.dtype != b.dtype || a.device != b.device)
    fail(Errc::internal, "{}: {} on {} met {} on {}; views of one call have one dtype and one device", kernel,
         name(a.dtype), a.device.str(), name(b.dtype), b.device.str());
  check_overlap(kernel, a, b);
}

inline void check_dtype(std::string_view kernel, DType dtype, bool exists) {
  if (!exists)
    fail(Errc::internal, "{} is not defined on {}; its caller must refuse it", kernel, name(dtype));
}

inline void check_copy(const TensorView& to, const TensorView& from) {
  check_counts("copy", to, from);
  check_dtype("copy between dtypes", from.dtype, to.dtype == from.dtype);
  check_overlap("copy", to, from);
}

// Runs `host()` or, for a view on a device, `device(api, stream)`. Views without elements or values need
// neither.
template <class Host, class OnDevice>
void dispatch(const TensorView& view, const Host& host, const OnDevice& device) {
  if (view.count == 0 || !has_values(view.dtype)) return;
  if (on_cpu(view)) return host();
  device(device_api(view.device.type), current_stream(view.device));
}

}  // namespace dist::kernels

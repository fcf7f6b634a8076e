// The readable form of a Tensor: "[1, 2, 3] f32".
#include <ostream>

#include <fmt/format.h>

#include "dist/core/shape.h"
#include "dist/core/tensor.h"

namespace dist {

namespace {

constexpr std::int64_t longest_in_full = 100;  // elements
constexpr std::int64_t shown_at_each_end = 3;  // entries of an axis, when abbreviated

template <class T>
std::string element_text(T element) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return fmt::format("{}", float{element});
  else if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>)
    return fmt::format("{}", int{element});
  else
    return fmt::format("{}", element);
}

// Writes the nested brackets of one tensor.
template <class T>
class Printer {
 public:
  Printer(const Shape& shape, const T* elements)
      : shape_(shape), next_(elements), short_(product(shape) <= longest_in_full) {}

  std::string text() {
    axis(0);
    return std::move(text_);
  }

 private:
  void axis(std::size_t depth) {
    if (depth == shape_.size()) {
      text_ += element_text(*next_++);
      return;
    }
    const std::int64_t size = shape_[depth];
    const bool abbreviate = !short_ && size > 2 * shown_at_each_end;
    text_ += '[';
    for (std::int64_t i = 0; i < size; ++i) {
      if (i > 0) text_ += ", ";
      if (abbreviate && i == shown_at_each_end) {
        text_ += "..., ";
        const std::int64_t skipped = size - 2 * shown_at_each_end;
        i += skipped;
        next_ +=
            skipped * product(Shape(shape_.begin() + static_cast<std::ptrdiff_t>(depth) + 1, shape_.end()));
      }
      axis(depth + 1);
    }
    text_ += ']';
  }

  const Shape& shape_;
  const T* next_;
  bool short_;
  std::string text_;
};

}  // namespace

std::string Tensor::str() const {
  if (!is_defined()) return "undefined";
  const Tensor here = to(cpu);
  std::string text =
      visit_dtype(dtype(), [&]<class T>() { return Printer<T>(shape_, here.data<T>().data()).text(); });
  text += fmt::format(" {}", name(dtype()));
  if (numel() > longest_in_full) text += " of shape " + to_string(shape_);
  if (device() != cpu) text += " on " + device().str();
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) { return out << t.str(); }

}  // namespace dist

#include "dist/data/mnist.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/data/idx.h"

namespace dist::data {
namespace fs = std::filesystem;
namespace {

struct Part {
  Tensor elements;
  std::string file;
};

Part read(const fs::path& folder, std::string_view name, int axes) {
  const fs::path file = mnist_file(folder, name);
  return {parse_idx(read_maybe_gzip(file), axes, file.string()), file.string()};
}

}  // namespace

fs::path find_mnist_file(const fs::path& folder, std::string_view name) {
  for (const char* ending : {"", ".gz"}) {
    fs::path file = folder / (std::string(name) + ending);
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) return file;
  }
  return {};
}

fs::path mnist_file(const fs::path& folder, std::string_view name) {
  fs::path file = find_mnist_file(folder, name);
  if (file.empty())
    fail(Errc::resource, "there is no {} in {}, nor {}.gz: `./distlab data mnist` says where to get it", name,
         folder.string(), name);
  return file;
}

Images load_mnist(const fs::path& folder, Split split) {
  const std::size_t first = split == Split::train ? 0 : 2;
  auto images = read(folder, mnist_files[first].name, 3);
  auto labels = read(folder, mnist_files[first + 1].name, 1);
  if (images.elements.size(1) != 28 || images.elements.size(2) != 28)
    fail(Errc::invalid_argument, "{} has images of {} x {} pixels, not of 28 x 28", images.file,
         images.elements.size(1), images.elements.size(2));
  if (images.elements.size(0) != labels.elements.size(0))
    fail(Errc::invalid_argument, "{} has {}, but {} has {}: they do not belong together", images.file,
         counted(images.elements.size(0), "image"), labels.file, counted(labels.elements.size(0), "label"));
  const auto all = std::as_const(labels.elements).data<std::uint8_t>();
  const auto wrong = std::ranges::find_if(all, [](std::uint8_t label) { return label > 9; });
  if (wrong != all.end())
    fail(Errc::invalid_argument, "{}: label {} is {}, but digits are 0 to 9: fetch it again", labels.file,
         wrong - all.begin(), *wrong);
  return {std::move(images.elements), std::move(labels.elements), mnist_normalisation};
}

}  // namespace dist::data

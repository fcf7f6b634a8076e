// distlab data mnist: where the files of MNIST are to be put, and whether they are what they should be.
#include <string>

#include <fmt/format.h>

#include "dist/core/error.h"
#include "dist/data/idx.h"
#include "dist/data/mnist.h"

#include "distlab/commands.h"
#include "distlab/digest.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab {
namespace fs = std::filesystem;
namespace {

using dist::data::MnistFile;

// Nothing when the file is right.
std::string wrong_with(const MnistFile& wanted, const fs::path& file) {
  std::string bytes;
  try {
    const auto read = dist::data::read_maybe_gzip(file);
    bytes.assign(reinterpret_cast<const char*>(read.data()), read.size());
  } catch (const dist::Error& error) {
    return error.what();
  }
  if (static_cast<std::int64_t>(bytes.size()) != wanted.bytes)
    return fmt::format("has {} bytes, MNIST's has {} (uncompressed): fetch it again", bytes.size(),
                       wanted.bytes);
  const auto digest = digest_of_text(bytes);
  if (digest != wanted.sha256)
    return fmt::format("has SHA-256 {}, MNIST's has {} (uncompressed): fetch it again", digest,
                       wanted.sha256);
  return "";
}

void explain(const fs::path& folder) {
  fmt::print(
      "\nMNIST is four files; distlab fetches nothing by itself. Get them, as they are or with .gz, from\n"
      "  https://storage.googleapis.com/cvdf-datasets/mnist/ or "
      "https://ossci-datasets.s3.amazonaws.com/mnist/\n"
      "for example by\n\n"
      "  mkdir -p {0} && cd {0}\n"
      "  for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do\n"
      "    curl -fO https://storage.googleapis.com/cvdf-datasets/mnist/$f-ubyte.gz\n"
      "  done\n\n"
      "then ask again: ./distlab train --data mnist learns from them. Nothing needs them: the generated "
      "digits\n"
      "(./distlab data digits) serve all lessons.\n",
      folder.string());
}

}  // namespace

int check_mnist(const MnistOptions& options) {
  const fs::path folder = options.folder.empty() ? mnist_folder() : options.folder;
  int missing = 0, wrong = 0;
  for (const auto& wanted : dist::data::mnist_files) {
    const fs::path file = dist::data::find_mnist_file(folder, wanted.name);
    if (file.empty()) {
      ++missing;
      fmt::print("{}  {}\n", styled(Style::warn, "missing"), wanted.name);
      continue;
    }
    const auto problem = wrong_with(wanted, file);
    if (!problem.empty()) ++wrong;
    fmt::print("{}  {}: {}\n",
               problem.empty() ? styled(Style::good, "ok     ") : styled(Style::bad, "wrong  "),
               file.string(),
               problem.empty() ? fmt::format("{} bytes, SHA-256 as it should be", wanted.bytes) : problem);
  }
  if (missing > 0) explain(folder);
  if (wrong > 0) return exit_failed;
  return missing > 0 ? exit_missing : exit_ok;
}

}  // namespace distlab

// Files of torch.save(), which distlab does not read.
#pragma once

#include <filesystem>

namespace distlab {

// Throws Error{invalid_argument}, with the line of Python that converts the file to safetensors, if it is a
// zip file or a pickle. A file that cannot be read is not refused here.
void expect_no_pickle(const std::filesystem::path& file);

}  // namespace distlab

// clang-format off
    const int row = tile.row + warpgroup_row + warp * 16;
    const int column = tile.column + warpgroup_column;
    epilogue(rC, args, tile, row, column, staging, lane);

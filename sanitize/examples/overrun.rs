//! Receives more bytes than fit into the buffer, to show whether the sanitizer checks system calls.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixDatagram;

fn main() -> std::io::Result<()> {
    let (one, other) = UnixDatagram::pair()?;
    one.send(&[7; 64])?;
    let mut room = vec![0_u8; 32];
    let mut part = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: 64 };
    // SAFETY: zeros are a valid header. The length is wrong on purpose.
    let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
    header.msg_hdr.msg_iov = &raw mut part;
    header.msg_hdr.msg_iovlen = 1;
    // SAFETY: this is unsound on purpose; the sanitizer has to abort the program.
    let count = unsafe { libc::recvmmsg(other.as_raw_fd(), &raw mut header, 1, 0, std::ptr::null_mut()) };
    println!("{count} received, although they do not fit");
    Ok(())
}

//! Reading entities back.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tonic::Code;

use super::connect::Client;
use super::error::{ClientError, Rpc};
use crate::election::RoleName;
use crate::entry::everything;
use crate::info::Info;
use crate::proto::v1;

/// What a target holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    /// The entities, in the order in which they were asked for and came.
    pub entities: Vec<v1::Entity>,
    /// Requests that the target does not implement, so that nothing is known about what they ask for.
    pub unsupported: Vec<v1::Entity>,
}

impl Client {
    /// Reads what matches any of the entities, and hands on each answer as it comes.
    pub async fn read_each(
        &self,
        entities: Vec<v1::Entity>,
        role: &RoleName,
        mut each: impl FnMut(Vec<v1::Entity>),
    ) -> Result<(), ClientError> {
        let deadline: Duration = self.target.options.deadlines.read;
        let until = Instant::now() + deadline;
        let request =
            v1::ReadRequest { device_id: self.target.device.0, role: role.name().to_owned(), entities };
        let mut service = self.service();
        let late = || ClientError::Deadline {
            endpoint: self.endpoint().to_owned(),
            rpc: Rpc::Read,
            after: deadline,
        };
        let failed = |status| ClientError::from_status(self.endpoint(), Rpc::Read, &status);
        let response = timeout_at(until, service.read(request)).await.map_err(|_| late())?;
        let mut answers = response.map_err(failed)?.into_inner();
        while let Some(answer) =
            timeout_at(until, answers.message()).await.map_err(|_| late())?.map_err(failed)?
        {
            each(answer.entities);
        }
        Ok(())
    }

    /// Reads what matches any of the entities.
    pub async fn read(&self, entities: Vec<v1::Entity>) -> Result<Vec<v1::Entity>, ClientError> {
        let mut found = Vec::new();
        self.read_each(entities, &RoleName::default(), |mut entities| {
            if found.is_empty() { found = entities } else { found.append(&mut entities) }
        })
        .await?;
        Ok(found)
    }

    /// Reads everything that a controller writes, one table at a time, so that no answer holds more than one.
    ///
    /// Kinds of entities that the target does not implement are listed, not failed on.
    pub async fn read_state(&self, info: &Info) -> Result<State, ClientError> {
        let mut state = State::default();
        for wildcard in everything(info) {
            match self.read(vec![wildcard.clone()]).await {
                Ok(mut entities) => state.entities.append(&mut entities),
                Err(error) if is_unimplemented(&error) => state.unsupported.push(wildcard),
                Err(error) => return Err(error),
            }
        }
        Ok(state)
    }
}

/// Says whether a target does not implement what was asked for, be it by the status or by its details.
fn is_unimplemented(error: &ClientError) -> bool {
    match error {
        ClientError::Rpc { code: Code::Unimplemented, .. } => true,
        ClientError::Rpc { details, .. } => {
            let mut failed = details.iter().filter(|outcome| !outcome.is_ok()).peekable();
            failed.peek().is_some() && failed.all(|outcome| outcome.code == Code::Unimplemented)
        }
        _ => false,
    }
}
